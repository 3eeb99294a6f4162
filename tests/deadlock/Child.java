// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/** The classic mistake with a child: "full" waits for one that fills a pipe, and "quiet" for one that waits for the end of its input, which nobody
 *  gives it. "later" reads after a time, and is in good health. */
public class Child {
    public static void main(String[] arguments) throws Exception {
        Process child = new ProcessBuilder(arguments[0].equals("quiet") ? "cat" : "yes").start();
        if (arguments[0].equals("later")) {
            Thread.sleep(600_000);
            child.getInputStream().read();
        } else {
            child.waitFor();
        }
    }
}

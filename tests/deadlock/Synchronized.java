// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/** The textbook deadlock: two threads, "ant" and "bee", enter two objects' monitors in opposite order. It ends by itself after a minute. */
public class Synchronized {
    private static final Object ONE = new Object(), TWO = new Object();
    private static final java.util.concurrent.CountDownLatch BOTH = new java.util.concurrent.CountDownLatch(2);

    private static void enter(Object mine, Object other) {
        synchronized (mine) {
            BOTH.countDown();
            try {
                BOTH.await();
            } catch (InterruptedException e) {
                return;
            }
            synchronized (other) {
                System.out.println("no deadlock");
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread ant = new Thread(() -> enter(ONE, TWO), "ant"), bee = new Thread(() -> enter(TWO, ONE), "bee");
        ant.setDaemon(true);
        bee.setDaemon(true);
        ant.start();
        bee.start();
        ant.join(60_000);
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Threads that wait for monitors of Java objects, and one that waits for a lock. Prints
// "ready" when every thread waits. Run by tests/system/hangs/java_monitors.py; it is ended from outside.
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public class Monitors {
    static class Fork {}
    static class Left {}
    static class Right {}
    static class Mailbox {}
    static class Held {}
    static volatile long spun;

    static Thread begin(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    // Takes its first object, waits until everybody has theirs, and wants the second one.
    static Thread taker(String name, Object first, Object second, CountDownLatch all) {
        return begin(name, () -> {
            synchronized (first) {
                meet(all);
                synchronized (second) {
                    spun++;
                }
            }
        });
    }

    static void meet(CountDownLatch all) {
        all.countDown();
        try {
            all.await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    static void awaitState(Thread thread, Thread.State state) throws InterruptedException {
        while (thread.getState() != state) Thread.sleep(1);
    }

    public static void main(String[] arguments) throws InterruptedException {
        // Two threads in opposite order.
        Object left = new Left(), right = new Right();
        CountDownLatch two = new CountDownLatch(2);
        Thread leftFirst = taker("left first", left, right, two), rightFirst = taker("right first", right, left, two);

        // Three in a ring.
        Object[] forks = {new Fork(), new Fork(), new Fork()};
        CountDownLatch three = new CountDownLatch(3);
        Thread[] ring = new Thread[3];
        for (int i = 0; i < 3; i++) ring[i] = taker("philosopher " + i, forks[i], forks[(i + 1) % 3], three);

        // Nobody else knows the object, so nobody can notify.
        Thread waiter = begin("waiter \u00e9\u20ac\ud83d\ude00", () -> {
            Object mailbox = new Mailbox();
            synchronized (mailbox) {
                try {
                    mailbox.wait();
                } catch (InterruptedException interrupted) {
                    spun++;
                }
            }
        });

        // A running thread owns it: no deadlock.
        Object held = new Held();
        CountDownLatch owns = new CountDownLatch(1);
        begin("spinner", () -> {
            synchronized (held) {
                owns.countDown();
                while (true) spun++;
            }
        });
        owns.await();
        Thread enterer = begin("enterer", () -> {
            synchronized (held) {
                spun++;
            }
        });

        // A lock of java.util.concurrent, which a sleeping thread owns.
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch locked = new CountDownLatch(1);
        begin("lock owner", () -> {
            lock.lock();
            locked.countDown();
            LockSupport.park(lock);
        });
        locked.await();
        Thread locker = begin("locker", lock::lock);

        for (Thread thread : new Thread[] {leftFirst, rightFirst, ring[0], ring[1], ring[2], enterer})
            awaitState(thread, Thread.State.BLOCKED);
        awaitState(waiter, Thread.State.WAITING);
        awaitState(locker, Thread.State.WAITING);
        System.out.println("ready");
        Thread.sleep(200_000);
    }
}

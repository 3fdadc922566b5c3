package simulator;

import java.util.Random;

/** What happens to a share group of the profile of that name besides what happens to any group. */
final class ShareLife {
    private final Group group;
    private final Random random;
    private final ShareAdmin admin;

    ShareLife(Group group) {
        this.group = group;
        random = group.random;
        admin = new ShareAdmin(group);
    }

    /** Somebody wants what only a group without members allows: it is turned down. */
    void administered() {
        if (random.nextInt(3) == 0) group.admin.deleteGroup();
        else offsets();
    }

    /** Of a group without members: its offsets are set or deleted, it goes, or its id is used again. */
    void left() {
        switch (random.nextInt(8)) {
            case 0, 1 -> offsets();
            case 2, 3 -> group.admin.deleteGroup();
            case 4 -> group.admin.commit();
            default -> comes();
        }
    }

    /** Newcomers, mostly of a share group; others are turned down where that is still there. */
    private void comes() {
        int drawn = random.nextInt(6);
        group.speaksShare = drawn > 1;
        group.speaksConsumer = drawn != 0;
        int count = 1 + random.nextInt(group.maxMembers);
        for (int number = 0; number < count; number++) {
            group.simulation.scheduler.after(random.nextInt(5000), () -> {
                if (group.alive().size() < group.maxMembers) group.add(!group.speaksConsumer, null);
            });
        }
    }

    private void offsets() {
        if (random.nextBoolean()) admin.alterOffsets(group.anyTopic());
        else admin.deleteOffsets(group.anyTopic());
    }
}

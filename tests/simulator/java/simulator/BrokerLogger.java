package simulator;

import org.slf4j.event.Level;
import org.slf4j.helpers.MarkerIgnoringBase;

/** A logger of Kafka's classes: INFO and above go into the log of the broker on which they run. */
public final class BrokerLogger extends MarkerIgnoringBase {
    private final String logger;

    public BrokerLogger(String logger) {
        this.logger = logger;
        this.name = logger;
    }

    private void write(Level level, String message, Object... arguments) {
        if (ServerLog.takes(logger)) ServerLog.write(level, logger, message, arguments);
    }

    @Override public boolean isTraceEnabled() {
        return false;
    }

    @Override public void trace(String message) { }

    @Override public void trace(String message, Object one) { }

    @Override public void trace(String message, Object one, Object two) { }

    @Override public void trace(String message, Object... all) { }

    @Override public void trace(String message, Throwable thrown) { }

    @Override public boolean isDebugEnabled() {
        return false;
    }

    @Override public void debug(String message) { }

    @Override public void debug(String message, Object one) { }

    @Override public void debug(String message, Object one, Object two) { }

    @Override public void debug(String message, Object... all) { }

    @Override public void debug(String message, Throwable thrown) { }

    @Override public boolean isInfoEnabled() {
        return ServerLog.takes(logger);
    }

    @Override public void info(String message) {
        write(Level.INFO, message);
    }

    @Override public void info(String message, Object one) {
        write(Level.INFO, message, one);
    }

    @Override public void info(String message, Object one, Object two) {
        write(Level.INFO, message, one, two);
    }

    @Override public void info(String message, Object... all) {
        write(Level.INFO, message, all);
    }

    @Override public void info(String message, Throwable thrown) {
        write(Level.INFO, message, thrown);
    }

    @Override public boolean isWarnEnabled() {
        return ServerLog.takes(logger);
    }

    @Override public void warn(String message) {
        write(Level.WARN, message);
    }

    @Override public void warn(String message, Object one) {
        write(Level.WARN, message, one);
    }

    @Override public void warn(String message, Object one, Object two) {
        write(Level.WARN, message, one, two);
    }

    @Override public void warn(String message, Object... all) {
        write(Level.WARN, message, all);
    }

    @Override public void warn(String message, Throwable thrown) {
        write(Level.WARN, message, thrown);
    }

    @Override public boolean isErrorEnabled() {
        return ServerLog.takes(logger);
    }

    @Override public void error(String message) {
        write(Level.ERROR, message);
    }

    @Override public void error(String message, Object one) {
        write(Level.ERROR, message, one);
    }

    @Override public void error(String message, Object one, Object two) {
        write(Level.ERROR, message, one, two);
    }

    @Override public void error(String message, Object... all) {
        write(Level.ERROR, message, all);
    }

    @Override public void error(String message, Throwable thrown) {
        write(Level.ERROR, message, thrown);
    }
}

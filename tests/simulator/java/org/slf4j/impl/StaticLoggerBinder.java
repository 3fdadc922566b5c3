package org.slf4j.impl;

import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;
import simulator.BrokerLogger;

/** Where slf4j 1.7 looks for its binding, by this name. */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
    private static final StaticLoggerBinder ONLY = new StaticLoggerBinder();

    private StaticLoggerBinder() { }

    public static StaticLoggerBinder getSingleton() {
        return ONLY;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return BrokerLogger::new;
    }

    @Override
    public String getLoggerFactoryClassStr() {
        return BrokerLogger.class.getName();
    }
}

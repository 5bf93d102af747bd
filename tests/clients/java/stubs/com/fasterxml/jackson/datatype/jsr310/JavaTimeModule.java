package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.databind.module.SimpleModule;

/** Stands for that of jackson-datatype-jsr310: the service sends no dates. */
public class JavaTimeModule extends SimpleModule {}

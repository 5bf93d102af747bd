package javax.annotation;

/** Stands for that of jsr305. */
public @interface Nonnull {}

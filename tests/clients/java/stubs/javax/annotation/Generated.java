package javax.annotation;

/** Stands for that of javax.annotation-api. */
public @interface Generated {
  String[] value();

  String date() default "";

  String comments() default "";
}

package com.fasterxml.jackson.datatype.jsr310;

/** Stands for that of jackson-datatype-jsr310: the service sends no dates. */
public enum JavaTimeFeature {
  NORMALIZE_DESERIALIZED_ZONE_ID,
  ALWAYS_ALLOW_STRINGIFIED_DATE_TIMESTAMPS;

  public boolean enabledByDefault() {
    return false;
  }
}

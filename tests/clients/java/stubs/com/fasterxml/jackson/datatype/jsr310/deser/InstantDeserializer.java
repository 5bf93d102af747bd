package com.fasterxml.jackson.datatype.jsr310.deser;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import java.io.IOException;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.Temporal;
import java.time.temporal.TemporalAccessor;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Stands for that of jackson-datatype-jsr310: the service sends no dates. */
public class InstantDeserializer<T extends Temporal> extends StdDeserializer<T> {
  public static class FromIntegerArguments {
    public final long value = 0;
    public final ZoneId zoneId = null;
  }

  public static class FromDecimalArguments {
    public final long integer = 0;
    public final int fraction = 0;
    public final ZoneId zoneId = null;
  }

  protected InstantDeserializer(
      Class<T> type, DateTimeFormatter formatter, Function<TemporalAccessor, T> parsed,
      Function<FromIntegerArguments, T> fromMilliseconds,
      Function<FromDecimalArguments, T> fromNanoseconds, BiFunction<T, ZoneId, T> adjust,
      boolean replaceZeroOffset, boolean normalizeZoneId, boolean readNumericStrings) {
    super(type);
  }

  @Override
  public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
    throw new UnsupportedOperationException();
  }

  protected T _fromString(JsonParser parser, DeserializationContext context, String text)
      throws IOException {
    throw new UnsupportedOperationException();
  }
}

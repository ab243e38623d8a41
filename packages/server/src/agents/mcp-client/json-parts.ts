const [quote, backslash, comma, openList, openObject, lineFeed, carriageReturn] = [...'"\\,[{\n\r'].map((sign) =>
  sign.charCodeAt(0),
) as [number, number, number, number, number, number, number];

/** What a line of a stream counts: each may end a message, which takes as long to judge as ten values within one. */
const lineParts = 10;

/**
 * Counts the parts that a reader of the text has to look at, chunk by chunk: the values of JSON outside its strings, and
 * the lines of an event stream. A few megabytes of `{},{},…` make a validator note millions of faults and take gigabytes.
 */
export function partCounter({ isEventStream }: { isEventStream: boolean }): (chunk: Uint8Array) => number {
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    let parts = 0;
    for (const byte of chunk) {
      if (byte === lineFeed || byte === carriageReturn) {
        // No string of JSON goes over the end of a line, and a comment of a stream may hold a lone quote.
        isInString = false;
        isEscaped = false;
        if (isEventStream) parts += lineParts;
      } else if (isInString) {
        if (byte === quote && !isEscaped) isInString = false;
        isEscaped = byte === backslash && !isEscaped;
      } else if (byte === quote) isInString = true;
      else if (byte === comma || byte === openList || byte === openObject) parts += 1;
    }
    return parts;
  };
}

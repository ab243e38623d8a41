import { Unreadable } from './fault.ts';
import { type JsonRecord, listOf, recordOf } from './wires/json.ts';

/** An event of which only the text changes from one to the next: `head`, the text, `tail`. */
type Pattern = { head: string; tail: string; event: unknown; owner: JsonRecord; field: string };

/** The first event of an answer differs from those with its text, and a server that numbers its events repeats none. */
const mostAttempts = 4;

/**
 * Parses the events of one stream. Most repeat the one before with another text. Then that object is returned again with
 * the new text, because parsing the rest again is half the cost of reading an answer. So an event must not be kept.
 */
export function createEventParser(): (data: string) => unknown {
  let pattern: Pattern | null = null;
  let attempts = 0;
  return (data) => {
    if (pattern !== null && isLike(pattern, data)) {
      const text = data.slice(pattern.head.length, data.length - pattern.tail.length);
      if (!isPlain.test(text)) return parsed(data);
      pattern.owner[pattern.field] = text;
      return pattern.event;
    }
    const event = parsed(data);
    if (attempts < mostAttempts) {
      attempts += 1;
      pattern = patternOf(data, event);
    }
    return event;
  };
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new Unreadable();
  }
}

const isLike = ({ head, tail }: Pattern, data: string) =>
  data.length >= head.length + tail.length && data.startsWith(head) && data.endsWith(tail);

/** Text that JSON writes as it is. */
const isPlain = /^[^"\\\p{Cc}]*$/u;

/** Chat completions write text as `content` of a choice, and Anthropic as `text`. */
function patternOf(data: string, event: unknown): Pattern | null {
  const { choices, delta } = recordOf(event);
  const [owner, field] =
    choices === undefined ? [recordOf(delta), 'text'] : [recordOf(recordOf(listOf(choices)[0]).delta), 'content'];
  const text = owner[field];
  if (typeof text !== 'string') return null;
  const head = data.slice(0, data.indexOf(`"${field}":"`) + field.length + 4);
  const tail = data.slice(head.length + text.length);
  // The same name may occur before that place, and data may be written in another way. Another text shows it.
  owner[field] = `${text}.`;
  const isSame = JSON.stringify(event) === `${head}${text}.${tail}`;
  owner[field] = text;
  return isSame ? { head, tail, event, owner, field } : null;
}

import type { Fault } from './fault.ts';
import { fieldNamedIn } from './spare-fields.ts';
import type { Vendor } from './vendor.ts';

/** How an answer schema is enforced, best first. `json`: only that it is JSON. `words`: the prompt alone. */
export const outputForms = ['strict', 'loose', 'json', 'words'] as const;
export type OutputForm = (typeof outputForms)[number];

/** `plain`: with a schema that every vendor accepts. */
export type ToolForm = 'plain' | 'left_out';

/** Changes to a request after the vendor rejected it. */
export type Adjustments = {
  fields: readonly string[];
  /** The best form that the vendor may still accept. */
  output: OutputForm;
  /** The vendor accepts no better form for any schema. */
  isOutputLimited: boolean;
  /** By the tool's name on the wire. */
  tools: ReadonlyMap<string, ToolForm>;
  hasPlainTools: boolean;
  isToolUnforced: boolean;
  /** In characters; null if the vendor has not said. */
  longestDescription: number | null;
  /** The longest answer that the vendor accepts; null if it has not said. */
  mostOutputTokens: number | null;
  isReasoningLeftOut: boolean;
  isMediaLeftOut: boolean;
};

export const noAdjustments: Adjustments = {
  fields: [],
  output: 'strict',
  isOutputLimited: false,
  tools: new Map(),
  hasPlainTools: false,
  isToolUnforced: false,
  longestDescription: null,
  mostOutputTokens: null,
  isReasoningLeftOut: false,
  isMediaLeftOut: false,
};

/** The rejected request. */
export type SentRequest = {
  body: object;
  /** The names of its tools on the wire, in their order. */
  tools: readonly string[];
  /** The tool whose arguments are the answer. */
  answerTool: string | null;
  /** The form of its answer schema; null if it has none. */
  output: OutputForm | null;
  isToolForced: boolean;
  maxOutputTokens: number;
  hasMedia: boolean;
  /** It asks for a level of reasoning. */
  hasLevel: boolean;
};

/** Each adjustment costs a request, so a vendor that rejects everything is asked only so often. */
export const mostAdjustments = 12;

/**
 * Returns the request's adjustments with one more, after what the vendor said about it: without the named field, with
 * the other form of the named schema, without the named tool. Returns null if nothing is left to change.
 */
export function adjustedAfter(
  fault: Fault,
  vendor: Pick<Vendor, 'name' | 'wire'>,
  sent: SentRequest,
  made: Adjustments,
): Adjustments | null {
  const { refusal, status } = fault;
  if (fault.reason !== 'refused' || status === null || !refusal) return null;
  if (fault.isOfReasoning && !made.isReasoningLeftOut) return { ...made, isReasoningLeftOut: true };
  // A model may accept another level, so the field that holds it stays: `withReasoningLevel` remembers the level.
  if (fault.isOfLevel && sent.hasLevel) return null;
  const field = fieldNamedIn(refusal, sent.body, vendor.wire.spare);
  const limit = limitNamedIn(refusal.words, sent.maxOutputTokens);
  if (limit !== null) return { ...made, mostOutputTokens: limit };
  const tools = toolsNamedIn(refusal, sent);
  const isOfField = field !== null && (tools.length === 0 || isEndOfPath(field, refusal));
  if (isOfField) return { ...made, fields: [...made.fields, field] };
  const longest = descriptionLimitIn(refusal);
  if (tools.length > 0 && longest !== null && longest !== made.longestDescription) {
    return { ...made, longestDescription: longest };
  }
  const own = tools.filter((name) => name !== sent.answerTool);
  if (own.length > 0) return withoutTools(made, own);
  if (sent.isToolForced && isOfToolChoice(refusal)) return { ...made, isToolUnforced: true };
  // A prompt that was filtered is not sent again in other forms: vendors close accounts for that.
  if (isOfContent(refusal)) return null;
  // Many compatible endpoints support JSON but no schemas, and do not say so.
  const isOfSchema = tools.length > 0 || isOfOutput(refusal) || (vendor.name === 'compatible' && status < 500);
  const output = isOfSchema ? nextOutput(sent, refusal) : null;
  if (output !== null) return { ...made, output, isOutputLimited: made.isOutputLimited || isOfEverySchema(refusal) };
  // A tool's picture may be corrupt after its first bytes, and every further request would be rejected.
  return sent.hasMedia && !made.isMediaLeftOut ? { ...made, isMediaLeftOut: true } : null;
}

/** Rejected schemas are simplified first, then those of all tools, and then the rejected tools are left out. */
function withoutTools(made: Adjustments, named: readonly string[]): Adjustments {
  const rejected = named.filter((name) => made.hasPlainTools || made.tools.get(name) === 'plain');
  if (rejected.length === 0 && made.tools.size > 0) return { ...made, hasPlainTools: true };
  const forms = named.map((name) => [name, rejected.includes(name) ? 'left_out' : 'plain'] as const);
  return { ...made, tools: new Map([...made.tools, ...forms]) };
}

function nextOutput({ output, answerTool }: SentRequest, refusal: Refused): OutputForm | null {
  if (output === null) return null;
  // An answer tool that is rejected cannot carry a schema in another form.
  if (answerTool !== null) return 'words';
  const next = outputForms.indexOf(output) + 1;
  return outputForms[isOfEverySchema(refusal) ? Math.max(next, outputForms.indexOf('json')) : next] ?? null;
}

type Refused = { words: string; param: string };

const toolPath = /\btools(?:\.|\[)(\d+)/g;
const googleToolPath = /function_?declarations(?:\.|\[)(\d+)/gi;
const toolName = /\b(?:function|tool)s?(?: name| call)?:?\s+['"`]([\w-]{1,128})['"`]/gi;

/** Vendors name tools by their places or by their names. Google names all that it rejects. */
function toolsNamedIn({ words, param }: Refused, { tools }: SentRequest): string[] {
  const placesIn = (path: RegExp, text: string) => [...text.matchAll(path)].map(([, at]) => tools[Number(at)]);
  const places = [param, words].flatMap((text) => {
    const ofGoogle = placesIn(googleToolPath, text);
    return ofGoogle.length > 0 ? ofGoogle : placesIn(toolPath, text);
  });
  const names = [...words.matchAll(toolName)].map(([, name]) => name);
  const named = new Set(places.length > 0 ? places : names);
  return tools.filter((name) => named.has(name));
}

function descriptionLimitIn({ words, param }: Refused): number | null {
  if (!/\.description\b/.test(`${param} ${words}`)) return null;
  return Number(/maximum length (?:of )?(\d+)/i.exec(words)?.[1] ?? 1_024);
}

/** `tools[0].strict` is about the field and not about the tool. */
function isEndOfPath(field: string, { words, param }: Refused): boolean {
  const path = param || (/\btools(?:\.|\[)[\w.[\]]+/.exec(words)?.[0] ?? '');
  return (
    new RegExp(`[.\\]]${field}$`).test(path) ||
    new RegExp(`unknown (name|parameter|field)[:\\s]+["'\`]${field}`, 'i').test(words)
  );
}

const isOfOutput = ({ words, param }: Refused) =>
  /response_?format|json_?schema|output_?(config|format)|response_?(json_?)?schema|response_?mime|text\.format|structured.?output|\bschema\b/i.test(
    `${param} ${words}`,
  );

const isOfContent = ({ words }: Refused) =>
  /content[ _]?(filter|policy|management)|moderation|invalid_prompt|safety|usage polic/i.test(words);

/** The endpoint knows no schemas at all, as opposed to a schema that it rejects. */
const isOfEverySchema = (refusal: Refused) =>
  isOfOutput(refusal) &&
  !/invalid schema|\bin context\b/i.test(refusal.words) &&
  /unsupported|not (yet )?supported|not support|unavailable|not available|unknown|unrecognized|not permitted|must be/i.test(
    refusal.words,
  );

const isOfToolChoice = ({ words, param }: Refused) =>
  /tool_?choice|tool choice|tool_?config|function_?calling_?config/i.test(`${param} ${words}`);

/** Some vendors reject a request for a longer answer than the model writes, and name the limit. */
function limitNamedIn(words: string, sent: number): number | null {
  if (!/max(imum)?[ _]?(output[ _]?|completion[ _]?|new[ _]?)?tokens/i.test(words)) return null;
  const [, exclusive] = /to (\d+) \(exclusive\)/.exec(words) ?? [];
  const [, limit] =
    /(?:\d > |at most |limit of |less than or equal to |maximum value for .{0,40}? is )(\d+)/i.exec(words) ?? [];
  const most = exclusive === undefined ? Number(limit) : Number(exclusive) - 1;
  return most > 0 && most < sent ? most : null;
}

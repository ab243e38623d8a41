import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import { type Adjustments, noAdjustments, type OutputForm, outputForms, type ToolForm } from './adjustments.ts';
import type { Vendor } from './vendor.ts';

/**
 * An adjustment that all orgs and processes may know: it names no tool and no schema. `key` tells a process what to
 * change, such as `field:stream_options`.
 */
export type LearntRule = { key: string; sentence: string };

/** Adjustments that made the vendor accept a request. */
export type Learnt = {
  /** The adjustments that a new request starts with. */
  of: (tools: readonly WireNamed[], outputSchema: JsonSchema | undefined) => Adjustments;
  /** Called once the vendor answered. Returns what is new: a sentence for the log, and the rule for other processes. */
  learn: (made: Adjustments, of: LearntRequest) => NewAdjustment[];
  /** Rules of this model for all orgs. */
  rules: () => LearntRule[];
  /** Replaces the rules. Without a rule for them, the forms of tools and schemas are forgotten too. */
  restore: (keys: readonly string[]) => void;
};

export type NewAdjustment = { sentence: string; rule: LearntRule };

type LearningVendor = Pick<Vendor, 'title' | 'wire' | 'rejects'>;
type WireNamed = { name: string; inputSchema: ToolDefinition['inputSchema'] };
type LearntRequest = { tools: readonly WireNamed[]; outputSchema: JsonSchema | undefined; hasNoReasoning: boolean };

/** Orgs bring any number of schemas. Older ones are forgotten and learnt again. */
const mostSchemas = 500;

export function createLearnt({ title: named, wire, rejects }: LearningVendor): Learnt {
  const title = titleInside(named);
  const keys = new Set<string>();
  const outputs = new Map<string, OutputForm>();
  const tools = new Map<string, ToolForm>();
  const toolNames = new Set<string>();
  let general = generalOf(keys, rejects);

  const keyOf = ({ name, inputSchema }: WireNamed) => `${name} ${JSON.stringify(inputSchema)}`;

  const keep = <Form>(map: Map<string, Form>, key: string, form: Form): boolean => {
    if (map.get(key) === form) return false;
    if (map.size >= mostSchemas) map.delete(map.keys().next().value as string);
    map.set(key, form);
    return true;
  };

  const ruleOf = (key: string): LearntRule => ({ key, sentence: sentenceOf(key, title, wire) });

  return {
    of(offered, outputSchema) {
      // Nearly every request: nothing was rejected, or only something general.
      if (toolNames.size === 0 && outputs.size === 0) return general;
      const known = offered.filter(({ name }) => toolNames.has(name));
      const forms = known.flatMap((tool) => {
        const form = tools.get(keyOf(tool));
        return form === undefined ? [] : [[tool.name, form] as const];
      });
      const output = outputs.size > 0 && outputSchema ? outputs.get(JSON.stringify(outputSchema)) : undefined;
      return { ...general, output: output ?? general.output, tools: new Map(forms) };
    },

    learn(made, request) {
      const news: NewAdjustment[] = [];
      const add = (key: string) => {
        if (keys.has(key)) return;
        keys.add(key);
        const rule = ruleOf(key);
        news.push({ sentence: rule.sentence, rule });
      };
      for (const name of made.fields) if (!rejects.includes(name)) add(`field:${name}`);
      if (request.hasNoReasoning) add('reasoning');
      if (made.isToolUnforced) add('forced_tool');
      if (made.longestDescription !== null) add(`description:${made.longestDescription}`);
      if (made.mostOutputTokens !== null) add(`output_tokens:${made.mostOutputTokens}`);
      if (made.output !== 'strict' && request.outputSchema) {
        add(`${made.isOutputLimited ? 'every_output' : 'output'}:${made.output}`);
        keep(outputs, JSON.stringify(request.outputSchema), made.output);
      }
      for (const tool of request.tools) {
        const form = made.tools.get(tool.name) ?? (made.hasPlainTools ? 'plain' : undefined);
        if (form === undefined) continue;
        toolNames.add(tool.name);
        if (!keep(tools, keyOf(tool), form)) continue;
        keys.add(`tool:${form}`);
        // The log of the operator names the tool, and the rule for all orgs does not.
        news.push({ sentence: saidOfTool(tool.name, form, title), rule: ruleOf(`tool:${form}`) });
      }
      general = generalOf(keys, rejects);
      return news;
    },

    rules: () => shownKeys(keys).map(ruleOf),

    restore(next) {
      keys.clear();
      for (const key of next) keys.add(key);
      general = generalOf(keys, rejects);
      if (valuesOf(keys, 'tool').length === 0) {
        tools.clear();
        toolNames.clear();
      }
      if (valuesOf(keys, 'output').length + valuesOf(keys, 'every_output').length === 0) outputs.clear();
    },
  };
}

/** The adjustments of every request to the model. A process may know several limits: the smallest one was learnt last. */
function generalOf(keys: ReadonlySet<string>, rejects: readonly string[]): Adjustments {
  const smallest = (kind: string) => {
    const numbers = valuesOf(keys, kind).map(Number).filter(Number.isSafeInteger);
    return numbers.length === 0 ? null : Math.min(...numbers);
  };
  return {
    ...noAdjustments,
    fields: [...new Set([...rejects, ...valuesOf(keys, 'field')])],
    output: worstOf(valuesOf(keys, 'every_output')) ?? 'strict',
    isToolUnforced: keys.has('forced_tool'),
    longestDescription: smallest('description'),
    mostOutputTokens: smallest('output_tokens'),
    isReasoningLeftOut: keys.has('reasoning'),
  };
}

const valuesOf = (keys: Iterable<string>, kind: string): string[] =>
  [...keys].filter((key) => key.startsWith(`${kind}:`)).map((key) => key.slice(kind.length + 1));

const worstOf = (forms: readonly string[]): OutputForm | undefined =>
  outputForms.findLast((form) => forms.includes(form));

/** The rules that still have an effect, in a fixed order. */
function shownKeys(keys: ReadonlySet<string>): string[] {
  const { longestDescription, mostOutputTokens } = generalOf(keys, []);
  const forms = valuesOf(keys, 'output');
  const limited = valuesOf(keys, 'every_output');
  const worst = worstOf([...forms, ...limited]);
  return [
    ...valuesOf(keys, 'field').map((name) => `field:${name}`),
    ...['reasoning', 'forced_tool'].filter((key) => keys.has(key)),
    ...(longestDescription === null ? [] : [`description:${longestDescription}`]),
    ...(mostOutputTokens === null ? [] : [`output_tokens:${mostOutputTokens}`]),
    ...(worst ? [`${limited.includes(worst) ? 'every_output' : 'output'}:${worst}`] : []),
    ...['tool:plain', 'tool:left_out'].filter((key) => keys.has(key)),
  ];
}

const outputWords: Record<OutputForm, string> = {
  strict: 'enforced exactly',
  loose: 'sent without strict mode',
  json: 'described in words, and JSON is enforced',
  words: 'described in words',
};

/** Returns an empty text for a key of a later release. */
function sentenceOf(key: string, title: string, { spare }: Vendor['wire']): string {
  const [kind = '', value = ''] = key.split(/:(.*)/s);
  switch (kind) {
    case 'field': {
      const instead = spare[value]?.renamedTo;
      return instead === undefined
        ? `\`${value}\` is not sent: ${title} rejected it.`
        : `\`${instead}\` is sent instead of \`${value}\`, which ${title} rejected.`;
    }
    case 'reasoning':
      return `Encrypted reasoning is not requested: ${title} rejected it.`;
    case 'forced_tool':
      return `Tools are not forced: ${title} rejected it.`;
    case 'description':
      return `Descriptions of tools are cut to ${value} characters, as ${title} requires.`;
    case 'output_tokens':
      return `Answers are limited to ${value} tokens, as ${title} requires.`;
    case 'output':
    case 'every_output':
      return `Some answer schemas are ${outputWords[value as OutputForm]}: ${title} rejected them.`;
    case 'tool':
      return value === 'plain'
        ? `Some tools are sent with simpler schemas: ${title} rejected theirs.`
        : `Some tools are left out: ${title} rejected them.`;
    default:
      return '';
  }
}

export const saidOfTool = (name: string, form: ToolForm, title: string) =>
  form === 'plain'
    ? `The tool \`${name}\` is sent with a simpler schema: ${title} rejected its schema.`
    : `The tool \`${name}\` is left out: ${title} rejected it.`;

/** The title of a vendor inside a sentence. */
export const titleInside = (title: string) => title.replace(/^The /, 'the ');

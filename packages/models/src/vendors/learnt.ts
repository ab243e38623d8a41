import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import { type Adjustments, noAdjustments, type OutputForm, outputForms, type ToolForm } from './adjustments.ts';
import type { Vendor } from './vendor.ts';

/** Adjustments that made the vendor accept a request. They are kept for one model while the process runs. */
export type Learnt = {
  /** The adjustments that a new request starts with. */
  of: (tools: readonly WireNamed[], outputSchema: JsonSchema | undefined) => Adjustments;
  /** Called once the vendor answered. Returns sentences for the log about what is new. */
  learn: (made: Adjustments, of: LearntRequest) => string[];
  /** Sentences about this model for all orgs: they name no tool and no schema. */
  sentences: () => string[];
};

type LearningVendor = Pick<Vendor, 'title' | 'wire' | 'rejects'>;
type WireNamed = { name: string; inputSchema: ToolDefinition['inputSchema'] };
type LearntRequest = { tools: readonly WireNamed[]; outputSchema: JsonSchema | undefined; hasNoReasoning: boolean };

/** Orgs bring any number of schemas. Older ones are forgotten and learnt again. */
const mostSchemas = 500;

export function createLearnt({ title: named, wire, rejects }: LearningVendor): Learnt {
  const title = titleInside(named);
  const fields = new Set<string>(rejects);
  const outputs = new Map<string, OutputForm>();
  const tools = new Map<string, ToolForm>();
  const toolNames = new Set<string>();
  let bestOutput: OutputForm = 'strict';
  let hasNoReasoning = false;
  let isToolUnforced = false;
  let longestDescription: number | null = null;
  let mostOutputTokens: number | null = null;

  const keyOf = ({ name, inputSchema }: WireNamed) => `${name} ${JSON.stringify(inputSchema)}`;

  const keep = <Form>(map: Map<string, Form>, key: string, form: Form): boolean => {
    if (map.get(key) === form) return false;
    if (map.size >= mostSchemas) map.delete(map.keys().next().value as string);
    map.set(key, form);
    return true;
  };

  const nameField = (name: string) => {
    const instead = wire.spare[name]?.renamedTo;
    return instead === undefined
      ? `\`${name}\` is not sent: ${title} rejected it.`
      : `\`${instead}\` is sent instead of \`${name}\`, which ${title} rejected.`;
  };
  const noReasoning = `Encrypted reasoning is not requested: ${title} rejected it.`;
  const limited = () => `Answers are limited to ${mostOutputTokens} tokens, as ${title} requires.`;
  const shortened = () => `Descriptions of tools are cut to ${longestDescription} characters, as ${title} requires.`;
  const unforced = `Tools are not forced: ${title} rejected it.`;

  return {
    of(offered, outputSchema) {
      const known = offered.filter(({ name }) => toolNames.has(name));
      const forms = known.flatMap((tool) => {
        const form = tools.get(keyOf(tool));
        return form === undefined ? [] : [[tool.name, form] as const];
      });
      const output = outputs.size > 0 && outputSchema ? outputs.get(JSON.stringify(outputSchema)) : undefined;
      return {
        ...noAdjustments,
        fields: [...fields],
        output: output ?? bestOutput,
        tools: new Map(forms),
        isToolUnforced,
        longestDescription,
        mostOutputTokens,
        isReasoningLeftOut: hasNoReasoning,
      };
    },

    learn(made, request) {
      const news: string[] = [];
      for (const name of made.fields) {
        if (!fields.has(name)) news.push(nameField(name));
        fields.add(name);
      }
      if (request.hasNoReasoning && !hasNoReasoning) {
        hasNoReasoning = true;
        news.push(noReasoning);
      }
      if (made.isToolUnforced && !isToolUnforced) {
        isToolUnforced = true;
        news.push(unforced);
      }
      if (made.longestDescription !== null && made.longestDescription !== longestDescription) {
        ({ longestDescription } = made);
        news.push(shortened());
      }
      if (made.mostOutputTokens !== null && made.mostOutputTokens !== mostOutputTokens) {
        ({ mostOutputTokens } = made);
        news.push(limited());
      }
      if (made.output !== 'strict' && request.outputSchema) {
        if (made.isOutputLimited) bestOutput = made.output;
        if (keep(outputs, JSON.stringify(request.outputSchema), made.output))
          news.push(saidOfOutput(made.output, title));
      }
      for (const tool of request.tools) {
        const form = made.tools.get(tool.name) ?? (made.hasPlainTools ? 'plain' : undefined);
        if (form === undefined) continue;
        toolNames.add(tool.name);
        if (keep(tools, keyOf(tool), form)) news.push(saidOfTool(tool.name, form, title));
      }
      return news;
    },

    sentences() {
      const forms = new Set(tools.values());
      const worst = outputForms.findLast((form) => [...outputs.values()].includes(form));
      return [
        ...[...fields].filter((name) => !rejects.includes(name)).map(nameField),
        ...(hasNoReasoning ? [noReasoning] : []),
        ...(isToolUnforced ? [unforced] : []),
        ...(longestDescription === null ? [] : [shortened()]),
        ...(mostOutputTokens === null ? [] : [limited()]),
        ...(worst ? [saidOfOutput(worst, title)] : []),
        ...(forms.has('plain') ? [`Some tools are sent with simpler schemas: ${title} rejected theirs.`] : []),
        ...(forms.has('left_out') ? [`Some tools are left out: ${title} rejected them.`] : []),
      ];
    },
  };
}

const outputWords: Record<OutputForm, string> = {
  strict: 'enforced exactly',
  loose: 'sent without strict mode',
  json: 'described in words, and JSON is enforced',
  words: 'described in words',
};

const saidOfOutput = (form: OutputForm, title: string) =>
  `Some answer schemas are ${outputWords[form]}: ${title} rejected them.`;

export const saidOfTool = (name: string, form: ToolForm, title: string) =>
  form === 'plain'
    ? `The tool \`${name}\` is sent with a simpler schema: ${title} rejected its schema.`
    : `The tool \`${name}\` is left out: ${title} rejected it.`;

/** The title of a vendor inside a sentence. */
export const titleInside = (title: string) => title.replace(/^The /, 'the ');

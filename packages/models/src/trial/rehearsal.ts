/** The part of a request that decides the answer. */
export type Prompt = { text: string; isAfterResults: boolean; tools: readonly string[]; wantsJson: boolean };

/**
 * Follows the prompts of the checks to the letter. The estimate of the cost counts its requests, and test servers
 * answer with it.
 */
export function followPrompt({ text, isAfterResults, tools, wantsJson }: Prompt): {
  text: string;
  calls: { name: string; arguments: unknown }[];
} {
  if (isAfterResults) return { text: 'Sunny in Bonn, and red.', calls: [] };
  const values = [...text.matchAll(/\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g)].flatMap(([json]) => parsedIn(json));
  const named = tools.find((tool) => text.includes(`\`${tool}\``));
  const answerTool = tools.find((tool) => /^json_*$/.test(tool));
  if (named) {
    const calls = (values.length > 0 ? values : [{}]).map((given) => ({ name: named, arguments: given }));
    return { text: '', calls };
  }
  if (answerTool && values.length > 0) return { text: '', calls: [{ name: answerTool, arguments: values[0] }] };
  if (wantsJson || values.length > 0) return { text: JSON.stringify(values[0] ?? {}), calls: [] };
  const [, code] = /code word is (\w+)/.exec(text) ?? [];
  return { text: code ?? (text.includes('PDF') ? 'It says 4711.' : 'Red, and ready.'), calls: [] };
}

function parsedIn(json: string): unknown[] {
  try {
    return [JSON.parse(json)];
  } catch {
    return [];
  }
}

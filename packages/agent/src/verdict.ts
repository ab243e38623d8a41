import { asData } from './prompt/data.ts';

/** Begins every verdict, so that a resumed run tells it apart from a notice about an unusable answer. */
const opening = 'The result was checked against the success criteria, and they are not met yet.';

/**
 * The notice that sends a task back to work. The judge has read the output of tools, so its reason is fenced as data.
 */
export const verdictNotice = (reason: string, fence: string): string =>
  `${opening} Why, in the words of the check:
${asData(fence, 'verdict', reason)}
Continue the work until they are met. Then answer with the whole result: it replaces the one above.`;

export const isVerdict = (notice: string | null): boolean => notice?.startsWith(opening) === true;

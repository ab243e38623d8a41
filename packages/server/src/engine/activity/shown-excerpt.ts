import { excerptOf } from '../records/excerpt.ts';
import { shownText } from '../records/trace-content.ts';

/** The first words of a text in one line. Credentials and card numbers are hidden, as in a trace. */
export const shownExcerpt = (text: string, max: number): string => excerptOf(shownText(text), max);

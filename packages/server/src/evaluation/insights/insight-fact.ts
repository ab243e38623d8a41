import type { insightKinds } from '@vestra/contract/insights';
import type { ComparedText } from './cause-words.ts';

export type InsightKind = (typeof insightKinds)[number];

/** One thing that went wrong in one conversation. */
export type InsightFact = FoundFact & {
  /** False if the org's settings do not allow to quote the conversation. Its words are removed then. */
  isQuotable: boolean;
};

export type FoundFact = {
  kind: InsightKind;
  /** The exact part of the cause: a code or the name of a tool. Empty if the text is the cause. */
  subject: string;
  /** Facts with the same subject and a similar text have one cause. Null: the subject is the cause. */
  said: ComparedText | null;
  conversationId: string;
  turnId: string | null;
  taskId: string | null;
  at: Date;
  excerpt: string;
};

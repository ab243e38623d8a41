import type { JsonSchema } from '@vestra/agent/message';

export type TurnState = 'queued' | 'replying' | 'waiting' | 'working' | 'settled' | 'failed' | 'stopped';

/** Who sent the message: a person through the caller's system, or the service for them. */
export type TurnOrigin = 'message' | 'batch' | 'routine' | 'test' | 'interview';

/** What a message asks for beyond its text. */
export type TurnRequest = {
  output_schema?: JsonSchema | undefined;
  success_criteria?: string | undefined;
  tools?: readonly MessageTool[] | undefined;
  hand_off: 'auto' | 'always';
  plan: boolean;
  /** The caller's span that the message belongs to, as W3C writes it. */
  traceparent?: string | undefined;
  /** The message is part of a test. No caller can say so. */
  test?: TestScript | undefined;
};

/** What stands in for the world while a test is played: answers by the name of a function, or `<server>.<tool>`. */
export type TestScript = {
  tool_results: Readonly<Record<string, unknown>>;
  /** Looked at first. Absent in what was taken before there were any. */
  recorded_calls?: readonly RecordedCall[] | undefined;
  /** The conversation that is replayed: whatever tool it called answers as it did then, and no tool is run. */
  replay_of?: string | undefined;
};

/** What a tool answered to certain arguments. */
export type RecordedCall = {
  tool: string;
  arguments: Record<string, unknown>;
  result: unknown;
  is_error?: boolean | undefined;
};

export type MessageTool = {
  name: string;
  description: string;
  input_schema: JsonSchema;
  timeout_s: number;
  read_only: boolean;
  run_without_asking: boolean;
  /** Absent in what was taken before there was a choice. */
  approver?: 'user' | 'org' | undefined;
};

export const isOver = (state: TurnState) => state === 'settled' || state === 'failed' || state === 'stopped';

/** As the wire shows it: a reply that has not begun is still a reply to come. */
export const shownState = (state: TurnState) => (state === 'queued' ? 'replying' : state);

/** Only work has an outcome and a plan that can be shown: a message that asks for either goes straight to it. */
export const goesStraightToWork = ({ hand_off, plan, success_criteria }: TurnRequest) =>
  hand_off === 'always' || plan || success_criteria !== undefined;

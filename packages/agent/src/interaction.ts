/** The user of the conversation, or the org. */
export type Approver = 'user' | 'org';

/** An interaction before it is stored. Names are those of the API. */
export type InteractionDraft = {
  kind:
    | 'ask_question'
    | 'connector_auth'
    | 'tool_permission'
    | 'credit_approval'
    | 'exit_plan'
    | 'hands_approval'
    | 'plan_limit'
    | 'custom';
  type: 'approval' | 'question' | 'connect' | 'handoff' | 'tool_call';
  summary: string;
  moves_money: boolean | null;
  requires_present_user: boolean;
  /** For approvals only. Default: the user. */
  approver?: Approver;
  questions?: readonly Question[];
  details: Readonly<Record<string, unknown>>;
  /** The user reads it while a function runs. */
  progress?: string;
  /** Null: it never expires. */
  expires_in_s: number | null;
};

type Question = { question: string; header: string; options: readonly string[]; multi_select: boolean };

import { Failure } from '@vestra/contract/errors';
import type { Followers, LogEntry } from '../account/index.ts';
import { type ChargeItem, charge, checkSpending, refusalFailure } from '../billing/index.ts';
import { type ConversationRow, sendMessage } from '../engine/conversations/index.ts';
import { announce, type Engine } from '../engine/index.ts';
import {
  answerInteraction,
  assertMayAnswer,
  type InteractionAnswer,
  type InteractionRow,
  ownInteraction,
  pendingInteractions,
} from '../engine/interactions/index.ts';
import type { Caller, Origin, Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import { capsOf } from '../users/index.ts';
import type { SpeechUse } from './speech/speech.ts';

/** How a call takes part in its conversation: through the same functions as a user who types. */
export type CallConversation = {
  /** Reports events from the beginning of the call until the returned function is called. */
  follow: (each: (entry: LogEntry) => void, failed: (error: unknown) => void) => () => void;
  /** `interrupted`: the part of the last reply that the user heard before they interrupted it. */
  send: (text: string, interrupted: string | null) => Promise<void>;
  /** Null if this session may not answer it. */
  interaction: (id: string) => Promise<InteractionRow | null>;
  firstWaiting: () => Promise<InteractionRow | null>;
  /** Has no effect if someone else has answered meanwhile. */
  answer: (row: InteractionRow, answer: InteractionAnswer) => Promise<void>;
  charge: (model: string, seconds: number, used: readonly SpeechUse[]) => Promise<void>;
  /** Throws if the budget is used up. */
  assertMoney: () => Promise<void>;
};

type CallContext = { caller: Caller; origin: Origin; conversation: ConversationRow };

const followMs = 20_000;

export function createCallConversation(
  { engine, followers }: { engine: Engine; followers: Followers },
  { caller, origin, conversation }: CallContext,
): CallConversation {
  const { db } = engine;
  const { user_id: userId, deployment_id: deploymentId, id: conversationId } = conversation;

  async function interaction(id: string): Promise<InteractionRow | null> {
    try {
      const row = await ownInteraction(engine, caller, id);
      assertMayAnswer(caller, row);
      return row;
    } catch (error) {
      if (error instanceof Failure) return null;
      throw error;
    }
  }

  return {
    follow(each, failed) {
      const follower = followers.follow(conversationId, conversation.last_event_seq);
      let isOpen = true;
      const read = async () => {
        while (isOpen) for (const entry of await follower.next(followMs)) if (isOpen) each(entry);
      };
      void read().catch(failed);
      return () => {
        isOpen = false;
        follower.close();
      };
    },
    async send(text, interrupted) {
      const body = {
        message: text,
        context: contextOf(interrupted),
        stream: false,
        hand_off: 'auto' as const,
        plan: false,
        when_busy: 'queue' as const,
      };
      const { committed } = await transaction(db, (tx) =>
        sendMessage(engine, tx, { caller, origin }, conversationId, body),
      );
      announce(engine.announcer, committed);
    },
    interaction,
    async firstWaiting() {
      const [first] = await pendingInteractions(db, [conversationId]);
      return first ? interaction(first.id) : null;
    },
    async answer(row, answer) {
      await answerInteraction(engine, origin, row, answer).catch((error: unknown) => {
        if (!(error instanceof Failure && overAlready.has(error.code))) throw error;
      });
    },
    async charge(model, seconds, used) {
      const items = voiceItems({ userId, deploymentId, conversationId, model }, seconds, used);
      await transaction(db, (tx) => charge(tx, caller, { items }));
    },
    assertMoney: () => assertMoneyForCall(db, caller, userId),
  };
}

const overAlready: ReadonlySet<string> = new Set(['already_answered', 'interaction_expired', 'interaction_not_found']);

const spokenNote =
  'Spoken in a voice call and written down by a speech model, which may mishear. The reply is read aloud: answer in a few short sentences, without lists, tables, links or code.';

/** Tells the agent how much of its last reply the user heard. */
const contextOf = (interrupted: string | null) => ({
  channel: 'voice',
  note: spokenNote,
  ...(interrupted !== null && {
    interrupted: 'The person broke off your last reply. They have heard only this much of it.',
    heard_of_last_reply: interrupted.slice(-2_000),
  }),
});

/** Refuses a call that no one can pay for, at its start and while it runs. */
export async function assertMoneyForCall(db: Executor, tenant: Tenant, userId: string | null): Promise<void> {
  const userCaps = userId === null ? null : ((await capsOf(db, tenant, [userId])).get(userId) ?? null);
  const refusal = await checkSpending(db, tenant, { userId, userCaps });
  if (refusal) throw refusalFailure(refusal);
}

/** 0.0001 dollars per second, or 0.36 dollars per hour: the price of a computer. */
const microsPerSecond = 100;

type BilledCall = { userId: string | null; deploymentId: string | null; conversationId: string; model: string };

/** Charge items for a part of a call: its time and the tokens of the vendor. */
function voiceItems(call: BilledCall, seconds: number, used: readonly SpeechUse[]): ChargeItem[] {
  const about = {
    kind: 'voice' as const,
    model: call.model,
    userId: call.userId,
    deploymentId: call.deploymentId,
    conversationId: call.conversationId,
    taskId: null,
    turnId: null,
  };
  return [
    { ...about, quantity: Math.round(seconds * 1000) / 1000, unit: 'seconds', unitPriceMicros: microsPerSecond },
    ...used.map((each) => ({ ...about, ...each })),
  ];
}

import type { JsonSchema } from '@vestra/agent/message';
import type { ToolParts } from '../tools/ports.ts';
import type { PolicyHook } from './policy-hook.ts';

/** All that a run takes. What is below takes the part of it that it uses. */
export type Engine = ToolParts & {
  openSchemas: () => Promise<Schemas>;
  hook: PolicyHook;
  /** Whether a caller of this process follows the conversation. */
  isFollowed: (conversationId: string) => boolean;
};

/** Holds values against JSON Schemas of callers: bounded in depth, size and time. */
export type Schemas = {
  /** Null where the schema can be used. `isPromised`: what is given out must fit all of it. */
  faultOf: (schema: JsonSchema, options?: { isPromised: boolean }) => string | null;
  validate: (schema: JsonSchema, value: unknown) => { ok: true } | { ok: false; message: string };
};

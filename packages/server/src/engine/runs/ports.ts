import type { JsonSchema } from '@vestra/agent/message';
import type { AppendDelta } from '../../account/index.ts';
import type { ToolParts } from '../tools/ports.ts';
import type { PolicyHook } from './policy-hook.ts';

/** All dependencies of a run. Lower folders declare the parts that they use. */
export type Engine = ToolParts & {
  appendDelta: AppendDelta;
  openSchemas: () => Promise<Schemas>;
  hook: PolicyHook;
  /** Whether a client of this process streams the conversation. */
  isFollowed: (conversationId: string) => boolean;
};

/** Validates values against JSON Schemas of callers, bounded in depth, size and time. */
export type Schemas = {
  /** Null if the schema can be used. `isPromised`: output must match the whole schema. */
  faultOf: (schema: JsonSchema, options?: { isPromised: boolean }) => string | null;
  validate: (schema: JsonSchema, value: unknown) => { ok: true } | { ok: false; message: string };
};

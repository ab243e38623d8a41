import { answerTool } from './answer-tool.ts';
import { askTool } from './ask-tool.ts';
import { embedTool } from './embed-tool.ts';
import { eventsTool } from './events-tool.ts';
import { testTool } from './test-tool.ts';
import type { ToolCaller } from './tool-caller.ts';

type CompositeTool = (given: Record<string, unknown>, caller: ToolCaller) => Promise<unknown>;

/** The tools that make several calls, by name. Their arguments have been read by the command table's schemas. */
export const compositeTools: Readonly<Record<string, CompositeTool>> = {
  ask: askTool,
  answer: answerTool,
  embed: embedTool,
  events: eventsTool,
  test: testTool,
};

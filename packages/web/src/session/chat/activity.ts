import type { Words } from '../words/en.ts';

type Activity = Exclude<
  { [Name in keyof Words]: Words[Name] extends string ? Name : never }[keyof Words],
  'title' | 'agent'
>;

/** The built-in tools in words for the user. Tools that the user sees otherwise, such as a question, are not here. */
const activities: Readonly<Record<string, Activity>> = {
  search_notebooks: 'searching',
  read_document: 'readingDocument',
  recall: 'recalling',
  remember: 'remembering',
  use_skill: 'readingInstructions',
  read_conversation_file: 'lookingAtFiles',
  run_command: 'runningCommand',
  list_files: 'lookingAtFiles',
  read_file: 'lookingAtFiles',
  write_file: 'writingFile',
  save_output: 'writingFile',
  update_plan: 'planning',
  browser_open: 'openingPage',
  browser_read: 'readingPage',
  browser_scroll: 'readingPage',
  browser_screenshot: 'readingPage',
  browser_click: 'usingPage',
  browser_type: 'usingPage',
  browser_close: 'usingPage',
  routines_add: 'handlingRoutines',
  routines_list: 'handlingRoutines',
  routines_remove: 'handlingRoutines',
};

/** Built-in tools that only pass a message on. */
const silent: ReadonlySet<string> = new Set(['hand_off_to_work', 'ask_question', 'request_handoff', 'pass_on_answer']);

/** The line that says what a tool does. Null for a tool that says nothing of what the agent does. */
export function activityOfTool(name: string, words: Words): string | null {
  const activity = activities[name];
  if (activity) return words[activity];
  return silent.has(name) || isBuiltIn.test(name) ? null : words.using(plainName(name));
}

const isBuiltIn = /^(?:tell_work|stop_work|connect_app|finish)$/;

/** A function's name as words: `find_order` is `find order`. */
export const plainName = (name: string): string => name.replace(/^mcp__[^_]+__/, '').replaceAll('_', ' ');

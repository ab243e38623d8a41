/**
 * Names that a caller cannot use. New versions, servers and messages are checked against them. The manifest schema is
 * not: versions saved before a name was reserved keep running.
 */

/** Exact names. That a function name does not begin with `mcp__` is part of its format. */
export const reservedToolNames: ReadonlySet<string> = new Set([
  'hand_off_to_work',
  'ask_question',
  'request_handoff',
  'pass_on_answer',
  'tell_work',
  'stop_work',
  'read_conversation_file',
  'search_notebooks',
  'read_document',
  'use_skill',
  'remember',
  'recall',
  'update_plan',
  'run_command',
  'read_file',
  'write_file',
  'list_files',
  'save_output',
  'browser_open',
  'browser_read',
  'browser_click',
  'browser_type',
  'browser_scroll',
  'browser_screenshot',
  'browser_close',
  'routines_add',
  'routines_list',
  'routines_remove',
  'connect_app',
  'finish',
]);

/** The built-in tool servers. */
export const reservedServerSlugs: ReadonlySet<string> = new Set([
  'browser-control',
  'os-hands',
  'memory-keeper',
  'app-connector',
]);

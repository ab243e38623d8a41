import { nameOfRoutine } from '@vestra/contract/routine-name';
import type { FileObjects } from '../../agents/versions/index.ts';
import type { FileRoutine } from '../../automation/index.ts';
import type { FileScenario } from '../../evaluation/index.ts';

const firstTimePersona = 'A person who uses this agent for the first time.';

/** A test of the file as the scenario that it becomes. */
export function scenarioOfTest(test: FileObjects['tests'][number]): FileScenario {
  return {
    name: test.name,
    persona: test.persona ?? firstTimePersona,
    goal: test.ask,
    success_criteria: typeof test.expect === 'string' ? [test.expect] : test.expect,
    must_never: test.never === undefined ? [] : [test.never],
    ...(test.tool_results !== undefined && { tool_results: test.tool_results }),
    ...(test.recorded_calls !== undefined && { recorded_calls: test.recorded_calls }),
  };
}

/** A routine of the file with the name that it is found again by and the users that it runs for. */
export function routineOfEntry({ for: users = [], ...entry }: FileObjects['routines'][number]): FileRoutine {
  return { ...entry, name: nameOfRoutine(entry), users: typeof users === 'string' ? [users] : users };
}

import type { Engine } from './ports.ts';
import { runTask } from './run-task.ts';
import { runTurn } from './run-turn.ts';

/** The engine with what it does with its runs: the parts below begin runs without knowing how one is worked on. */
export function createEngine(parts: Omit<Engine, 'work'>): Engine {
  const engine: Engine = {
    ...parts,
    work: {
      reply: (taken, signal) => runTurn(engine, taken, signal),
      task: (taken, signal) => runTask(engine, taken, signal),
    },
  };
  return engine;
}

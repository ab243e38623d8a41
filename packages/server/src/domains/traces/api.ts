export { createTraceTargets } from './trace-targets.ts';

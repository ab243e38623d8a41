import { account, reports } from './account.ts';
import { afterwards, configuration, testing } from './configuration.ts';
import { edges } from './edges.ts';
import { goodbye, running } from './running.ts';
import type { ExampleCall } from './step.ts';

export const story: readonly ExampleCall[] = [
  ...account,
  ...configuration,
  ...running,
  ...testing,
  ...edges,
  ...reports,
  ...afterwards,
  ...goodbye,
];

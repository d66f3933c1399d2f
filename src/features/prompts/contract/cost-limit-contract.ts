import { Type } from 'typebox';
import { costLimitMax } from '../../../core/agent/cost-limit.ts';

/** A limit of cost in US dollars. */
export const costLimit = (description: string) =>
  Type.Number({ exclusiveMinimum: 0, maximum: costLimitMax, description, examples: [0.05] });

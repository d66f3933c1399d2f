import type { Budget, BudgetInput } from '../../client/index.ts';
import { CommandFailure } from './command-failure.ts';
import { printDone, printNotice, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline budgets put` and `delete`. */

export interface PutOptions {
  readonly limit?: number;
  readonly per?: BudgetInput['per'];
  readonly period?: BudgetInput['period'];
  readonly agent?: string[];
  readonly apiKey?: string[];
  readonly tag?: string[];
  readonly maxTokens?: number;
  readonly threshold?: number[];
  readonly onUnknown?: BudgetInput['onUnknown'];
  readonly enabled?: boolean;
}

/** Creates the budget of this name, or changes what the options name. */
export async function putBudget(
  { cueline, signal, json }: Call,
  name: string,
  options: PutOptions,
): Promise<void> {
  const { limit, per, period, agent, apiKey, tag, threshold, ...others } = options;
  const scope = { agentIds: agent, apiKeyIds: apiKey, tags: tag };
  const fields = {
    ...{ ...others, per, period, limitUSD: limit, thresholds: threshold },
    ...(agent || apiKey || tag ? { scope } : {}),
  };
  const known = (await cueline.budgets.list({ signal })).find((one) => one.name === name);
  if (known) {
    return printOne(await cueline.budgets.update(known.budgetId, fields, { signal }), json);
  }
  if (limit === undefined || per === undefined || period === undefined) {
    throw new CommandFailure(
      `There is no budget "${name}". A new one needs --limit, --per and --period.`,
    );
  }
  const input = { ...fields, name, limitUSD: limit, per, period };
  const { warnings, ...budget } = await cueline.budgets.create(input, { signal });
  for (const { agentName, message } of warnings) printNotice(`${agentName}: ${message}`);
  await printOne(budget, json);
}

export async function removeBudget({ cueline, signal, json }: Call, named: string): Promise<void> {
  const isNamed = ({ budgetId, name }: Budget) => budgetId === named || name === named;
  const budget = (await cueline.budgets.list({ signal })).find(isNamed);
  if (!budget) throw new CommandFailure(`There is no budget "${named}".`);
  await cueline.budgets.delete(budget.budgetId, { signal });
  await printDone(budget, `Deleted the budget ${budget.name}.`, json);
}

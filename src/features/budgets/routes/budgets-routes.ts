import type { FastifyInstance } from 'fastify';
import { requireFound } from '../../../core/failure.ts';
import { storedIds, toId } from '../../../core/id.ts';
import { pageDefault, pageMax } from '../../../http/contract/contract-limits.ts';
import type { Body } from '../../../http/contract/operation.ts';
import { etag, ifMatch } from '../../../http/request/if-match.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { requireWholeWorkspace } from '../../people/access/require-permission.ts';
import * as contract from '../contract/budgets-contract.ts';
import { type BudgetScope, budgetDefaults, limitOf } from '../rules/budget-settings.ts';
import * as store from '../statements/budgets-statements.ts';
import type { WindowRow } from '../statements/spent-windows.ts';
import * as flow from '../verbs/change-budget.ts';
import { readWindows } from '../verbs/read-windows.ts';

/** Budgets of a workspace. */
export function budgetRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db, historyReads } = deps;

  route(app, deps, contract.createBudget, async ({ body, caller }) => {
    requireWholeWorkspace(caller);
    const limitUsd = limitOf(body.limitUSD);
    const settings = { ...budgetDefaults, ...everyCall, ...storedSettings(body), limitUsd };
    const row = await flow.createBudget(db, caller, settings);
    const unbounded = await store.listUnboundedAgents(db, caller.workspaceId, row, pageMax);
    const warnings = unbounded.map((agent) => ({ ...agent, message: unboundedText(row) }));
    const location = `/api/v1/budgets/${toId('budget', row.id)}`;
    return { result: { ...budgetOf(row), warnings }, headers: { ...tagOf(row), location } };
  });

  route(app, deps, contract.listBudgets, async ({ caller }) => {
    const rows = await store.listBudgets(db, caller.workspaceId);
    return { result: { budgets: rows.map(budgetOf) } };
  });

  route(app, deps, contract.getBudget, async ({ ids, caller }) => {
    const row = await store.findBudget(db, caller.workspaceId, ids.budgetId);
    return shown(requireFound(row, 'budget'));
  });

  route(app, deps, contract.updateBudget, async ({ ids, body, caller, request }) => {
    requireWholeWorkspace(caller);
    const change = storedSettings(body);
    return shown(await flow.changeBudget(db, caller, ids.budgetId, change, ifMatch(request)));
  });

  route(app, deps, contract.deleteBudget, async ({ ids, caller, request }) => {
    requireWholeWorkspace(caller);
    await flow.deleteBudget(db, caller, ids.budgetId, ifMatch(request));
    return { result: null };
  });

  route(app, deps, contract.listBudgetWindows, async ({ ids, query, caller }) => {
    const { limit = pageDefault, ...rest } = query;
    const page = { ...rest, limit };
    const { budget, windows, nextCursor } = await historyReads.read(
      caller,
      (readDb) => readWindows(readDb, caller.workspaceId, ids.budgetId, page),
      { fresh: true },
    );
    const limitUSD = budget.limitUsd;
    return { result: { windows: windows.map((row) => windowOf(row, limitUSD)), nextCursor } };
  });
}

function windowOf({ settledUsd, reservedUsd, leftUsd, ...row }: WindowRow, limitUSD: string) {
  const amounts = { limitUSD, settledUSD: settledUsd, reservedUSD: reservedUsd };
  return { ...row, ...amounts, leftUSD: leftUsd, resetAt: row.windowEnd };
}

type Sent = Body<typeof contract.updateBudget>;

function storedSettings<S extends Sent>({ scope, limitUSD, thresholds, ...others }: S) {
  return {
    ...others,
    ...(scope && storedScope(scope)),
    ...(limitUSD !== undefined && { limitUsd: limitOf(limitUSD) }),
    ...(thresholds && { thresholds: thresholds.toSorted((one, other) => one - other) }),
  };
}

const everyCall: BudgetScope = { agentIds: null, apiKeyIds: null, tags: null };

function storedScope({ agentIds, apiKeyIds, tags }: NonNullable<Sent['scope']>): BudgetScope {
  return {
    agentIds: distinct(storedIds('agent', agentIds)),
    apiKeyIds: distinct(storedIds('key', apiKeyIds)),
    tags: tags ?? null,
  };
}

/** A slug and an identifier may name the same agent. */
function distinct(ids: readonly string[] | null): string[] | null {
  return ids && [...new Set(ids)];
}

function shown(row: store.BudgetRow) {
  return { result: budgetOf(row), headers: tagOf(row) };
}

function tagOf({ revision }: store.BudgetRow) {
  return { etag: etag(revision) };
}

function budgetOf(row: store.BudgetRow) {
  const { agentIds, apiKeyIds, tags } = row;
  return { ...row, limitUSD: row.limitUsd, scope: { agentIds, apiKeyIds, tags } };
}

function unboundedText({ maxTokens }: store.BudgetRow): string {
  return `The agent has no "maxTokens": calls that this budget counts are sent with ${maxTokens}.`;
}

import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Budget, type BudgetWindow, joinValues } from '../../../../src/client/index.ts';
import { FormError } from '../../../components/states/form-error.tsx';
import type { Column } from '../../../components/tables/data-table.tsx';
import { useLoadedAgentNames } from '../../../data/agents/agent-names.ts';
import {
  budgets,
  budgetWindowsQuery,
  describeBudget,
  isCurrent,
} from '../../../data/workspace/budgets.ts';
import { useKeyNames } from '../../../data/workspace/key-names.ts';
import { ConfirmDialog } from '../../../kit/confirm-dialog.tsx';
import { Dialog, openDialog } from '../../../kit/dialog.tsx';
import { List } from '../../../kit/list.tsx';
import { RowMenu } from '../../../kit/row-menu.tsx';
import { BudgetBars } from './budget-bar.tsx';
import { BudgetForm } from './budget-form.tsx';

/** The budgets of the workspace, with the windows that are nearest to their limits. */
export function BudgetsPage() {
  return (
    <List
      caption="Budgets"
      query={useQuery({ ...budgets.list(), refetchInterval: 60_000 })}
      rows={(all) => all}
      rowKey={({ budgetId }) => budgetId}
      columns={columns}
      actions={(budget) => (
        <RowMenu
          name={budget.name}
          actions={[
            ['Edit', () => openDialog(<BudgetForm budget={budget} />)],
            ['All windows', () => openDialog(<AllWindows budget={budget} />)],
            ['Delete', () => openDialog(<DeleteBudget budget={budget} />), 'bad'],
          ]}
        />
      )}
      intro="No call goes out that could bring a window above its limit."
      add={<Button onClick={() => openDialog(<BudgetForm budget={null} />)}>Add budget</Button>}
      empty={{
        icon: 'lock',
        title: 'No budgets yet',
        text: 'A budget limits what calls may cost: of all agents or some, together or for each user, key or agent.',
      }}
    />
  );
}

const columns: readonly Column<Budget>[] = [
  {
    header: 'Name',
    cell: (budget) => (
      <>
        <span className="name" dir="auto">
          {budget.name}
        </span>
        <p className="note">
          {describeBudget(budget)}
          {!budget.enabled && ' · disabled'}
        </p>
        <Scope budget={budget} />
      </>
    ),
  },
  { header: 'Fullest', cell: (budget) => <Fullest budget={budget} /> },
  { header: 'Refusals', hideBelow: 'sm', cell: (budget) => <Refusals budget={budget} /> },
];

function Scope({ budget: { scope } }: { readonly budget: Budget }) {
  const { agentIds = [], apiKeyIds = [], tags = [] } = scope;
  const agents = useLoadedAgentNames(agentIds);
  const keys = useKeyNames();
  const names = [
    ...agentIds.map((id) => agents.nameOf(id) ?? id),
    ...apiKeyIds.map((id) => keys?.get(id) ?? id),
    ...tags.map((tag) => `#${tag}`),
  ];
  return names.length > 0 && <p className="small-note" dir="auto">{`Only ${names.join(', ')}`}</p>;
}

const fullestShown = 3;

function Fullest({ budget }: { readonly budget: Budget }) {
  const { data, error } = useInfiniteQuery(budgetWindowsQuery(budget.budgetId, fullestShown));
  if (!data) return error ? <FormError error={error} /> : <Skeleton height={40} miw="8rem" />;
  const windows = windowsOf(data).filter(isCurrent);
  if (windows.length === 0) return <p className="note">No calls yet</p>;
  return <BudgetBars budget={budget} windows={windows} />;
}

const windowsOf = ({
  pages,
}: {
  readonly pages: readonly { readonly windows: BudgetWindow[] }[];
}) => pages.flatMap(({ windows }) => windows);

/** Of the whole scope, because a refusal does not say by which budget. */
function Refusals({ budget: { name, scope } }: { readonly budget: Budget }) {
  const { agentIds, apiKeyIds, tags } = scope;
  const search = {
    errorCode: 'BUDGET_EXCEEDED',
    ...(agentIds && { agentId: joinValues(agentIds.slice(0, filterValuesMax)) }),
    ...(apiKeyIds && { apiKeyId: joinValues(apiKeyIds.slice(0, filterValuesMax)) }),
    ...(tags?.length === 1 && { tag: tags[0] }),
  };
  return (
    <Link to="/history" search={search} aria-label={`Refusals of ${name}`}>
      Show
    </Link>
  );
}

/** The history takes no more. */
const filterValuesMax = 20;

function AllWindows({ budget }: { readonly budget: Budget }) {
  const query = useInfiniteQuery(budgetWindowsQuery(budget.budgetId, 50));
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const windows = data && windowsOf(data);
  return (
    <Dialog title={`Windows of ${budget.name}`} width="medium">
      {windows ? <BudgetBars budget={budget} windows={windows} /> : <Skeleton height={120} />}
      {windows?.length === 0 && <p className="note">No calls yet</p>}
      <FormError error={error} />
      {hasNextPage && (
        <Button
          variant="default"
          mt="md"
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </Dialog>
  );
}

function DeleteBudget({ budget }: { readonly budget: Budget }) {
  return (
    <ConfirmDialog
      title={`Delete ${budget.name}?`}
      confirm="Delete"
      action={budgets.remove(budget.budgetId)}
    >
      It refuses nothing more, and what it has counted is deleted. This cannot be undone.
    </ConfirmDialog>
  );
}

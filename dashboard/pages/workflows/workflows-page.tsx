import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import list from '../../components/tables/list.module.css';
import { Pager } from '../../components/tables/pager.tsx';
import { SearchInput } from '../../components/tables/search-input.tsx';
import { activeWorkflowsQuery } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import type { WorkflowsSearch } from './route.ts';
import { columns } from './workflow-columns.tsx';

const pageSize = 20;

export function WorkflowsPage() {
  const [filters, change] = useFilters<WorkflowsSearch>();
  const workflows = useQuery(activeWorkflowsQuery({ ...filters, limit: pageSize }));
  useLastPage(workflows.data?.pagination, workflows.data?.workflows.length);
  const create = can(useMe(), 'edit') && (
    <Button component={Link} to="/workflows/new" leftSection={<Icon name="plus" size={14} />}>
      New workflow
    </Button>
  );
  const search = (q: string) => change({ q: q || undefined });
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHeader
        title="Workflows"
        description="Workflows execute agents in sequence and in parallel, started by API calls, schedules or events."
        actions={create}
      />
      <search className={list.filters}>
        <SearchInput label="Search workflows" value={filters.q ?? ''} onChange={search} />
      </search>
      <StaleNotice query={workflows} />
      {workflows.isError && !workflows.data ? (
        <ErrorState error={workflows.error} onRetry={() => void workflows.refetch()} />
      ) : workflows.data?.workflows.length !== 0 ? (
        <>
          <DataTable
            caption="Workflows"
            columns={columns}
            rows={workflows.data?.workflows}
            rowKey={({ workflowId }) => workflowId}
            stale={workflows.isPlaceholderData}
          />
          {workflows.data && (
            <Pager
              pagination={workflows.data.pagination}
              count={workflows.data.workflows.length}
              onOffset={(offset) => change({ offset })}
            />
          )}
        </>
      ) : filtered ? (
        <EmptyState
          icon="search"
          title="No matches"
          action={
            <Button variant="default" onClick={() => search('')}>
              Clear filters
            </Button>
          }
        >
          No workflow matches this search, or you do not have access to all of its agents.
        </EmptyState>
      ) : (
        <EmptyState icon="workflows" title="No workflows yet" action={create}>
          A workflow passes values from one agent to the next, for example to classify a ticket and
          then answer it. Each step is an execution with its own record.
        </EmptyState>
      )}
    </>
  );
}

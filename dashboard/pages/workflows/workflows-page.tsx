import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import list from '../../components/tables/list.module.css';
import { SearchInput } from '../../components/tables/search-input.tsx';
import { activeWorkflowsQuery } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { List } from '../../kit/list.tsx';
import type { WorkflowsSearch } from './route.ts';
import { columns } from './workflow-columns.tsx';

const pageSize = 20;

export function WorkflowsPage() {
  const [filters, change] = useFilters<WorkflowsSearch>();
  const workflows = useQuery(activeWorkflowsQuery({ ...filters, limit: pageSize }));
  const create = can(useMe(), 'edit') && (
    <Button component={Link} to="/workflows/new" leftSection={<Icon name="plus" size={14} />}>
      New workflow
    </Button>
  );
  const search = (q: string) => change({ q: q || undefined });
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
      <List
        caption="Workflows"
        query={workflows}
        rows={(page) => page.workflows}
        rowKey={({ workflowId }) => workflowId}
        columns={columns}
        loadingRows={8}
        empty={{
          icon: 'workflows',
          title: 'No workflows yet',
          text: 'A workflow passes values from one agent to the next, for example to classify a ticket and then answer it. Each step is an execution with its own record.',
          action: create,
        }}
        filtered={
          Object.keys(filters).length > 0 && {
            text: 'No workflow matches this search, or you do not have access to all of its agents.',
            onClear: () => search(''),
          }
        }
      />
    </>
  );
}

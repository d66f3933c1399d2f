import { Button, NativeSelect } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { useLastPage } from '../../components/hooks/use-last-page.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EmptyState } from '../../components/states/empty-state.tsx';
import { ErrorState } from '../../components/states/error-state.tsx';
import { StaleNotice } from '../../components/states/stale-notice.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import classes from '../../components/tables/list.module.css';
import { Pager } from '../../components/tables/pager.tsx';
import { SearchInput } from '../../components/tables/search-input.tsx';
import { promptsQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { NewPromptDialog } from './new-prompt-dialog.tsx';
import { columns } from './prompt-columns.tsx';
import type { PromptsSearch } from './route.ts';

const pageSize = 20;

export function PromptsPage() {
  const [filters, change, clear] = useFilters<PromptsSearch>();
  const prompts = useQuery(promptsQuery({ ...filters, limit: pageSize }));
  useLastPage(prompts.data?.pagination, prompts.data?.prompts.length);
  const [isCreating, { open, close }] = useDisclosure();
  const canEdit = can(useMe(), 'edit');
  const create = canEdit && (
    <Button leftSection={<Icon name="plus" size={14} />} onClick={open}>
      New prompt
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Prompts"
        description="Templates with variables, in immutable versions. Agents pin a version."
        actions={create}
      />
      <search className={classes.filters}>
        <SearchInput
          label="Search prompts"
          value={filters.q ?? ''}
          onChange={(q) => change({ q: q || undefined })}
        />
        <NativeSelect
          aria-label="State"
          value={filters.archived ? 'archived' : ''}
          onChange={({ currentTarget: { value } }) =>
            change({ archived: value ? true : undefined })
          }
          data={[
            { value: '', label: 'Active' },
            { value: 'archived', label: 'Archived' },
          ]}
        />
      </search>
      <StaleNotice query={prompts} />
      {prompts.isError && !prompts.data ? (
        <ErrorState error={prompts.error} onRetry={() => void prompts.refetch()} />
      ) : prompts.data?.prompts.length === 0 ? (
        Object.keys(filters).length === 0 ? (
          <EmptyState icon="prompts" title="No prompts yet" action={create}>
            A prompt has a system template and a user template with <code>{'{{variables}}'}</code>{' '}
            that each call fills in.
          </EmptyState>
        ) : (
          <EmptyState
            icon="search"
            title="No matches"
            action={
              <Button variant="default" onClick={clear}>
                Clear filters
              </Button>
            }
          />
        )
      ) : (
        <>
          <DataTable
            caption="Prompts"
            columns={columns}
            rows={prompts.data?.prompts}
            rowKey={({ promptId }) => promptId}
            stale={prompts.isPlaceholderData}
          />
          {prompts.data && (
            <Pager
              pagination={prompts.data.pagination}
              count={prompts.data.prompts.length}
              onOffset={(offset) => change({ offset })}
            />
          )}
        </>
      )}
      {isCreating && <NewPromptDialog onClose={close} />}
    </>
  );
}

import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { Icon } from '../../components/icon.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import classes from '../../components/tables/list.module.css';
import { SearchInput } from '../../components/tables/search-input.tsx';
import { promptsQuery } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import { openDialog } from '../../kit/dialog.tsx';
import { List } from '../../kit/list.tsx';
import { NewPromptDialog } from './new-prompt-dialog.tsx';
import { columns } from './prompt-columns.tsx';
import type { PromptsSearch } from './route.ts';

const pageSize = 20;

export function PromptsPage() {
  const [filters, change, clear] = useFilters<PromptsSearch>();
  const prompts = useQuery(promptsQuery({ ...filters, limit: pageSize }));
  const canEdit = can(useMe(), 'edit');
  const create = canEdit && (
    <Button
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => openDialog(<NewPromptDialog />)}
    >
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
      <List
        caption="Prompts"
        query={prompts}
        rows={(page) => page.prompts}
        rowKey={({ promptId }) => promptId}
        columns={columns}
        loadingRows={8}
        empty={{
          icon: 'prompts',
          title: 'No prompts yet',
          text: (
            <>
              A prompt has a system template and a user template with <code>{'{{variables}}'}</code>{' '}
              that each call fills in.
            </>
          ),
          action: create,
        }}
        filtered={Object.keys(filters).length > 0 && { onClear: clear }}
      />
    </>
  );
}

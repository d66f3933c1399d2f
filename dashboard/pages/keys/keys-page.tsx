import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { keysQuery } from '../../data/workspace/keys.ts';
import { CreateKey } from './create-key.tsx';
import { KeyList } from './key-list.tsx';
import type { KeysSearch } from './route.ts';

const pageSize = 25;

export function KeysPage() {
  const [{ offset = 0, revoked = false }, change, clear] = useFilters<KeysSearch>();
  const keys = useQuery(keysQuery({ limit: pageSize, offset, revoked }));
  return (
    <>
      <PageHeader
        title="API keys"
        description="Programs authenticate with an API key. A key never has more rights than the user who created it."
        actions={<CreateKey />}
      />
      <Checkbox
        label="Revoked keys"
        mb="sm"
        checked={revoked}
        onChange={({ currentTarget }) => change({ revoked: currentTarget.checked || undefined })}
      />
      <KeyList
        query={keys}
        rows={(page) => page.keys}
        filtered={revoked && { text: 'No key was revoked.', onClear: clear }}
        empty={{
          icon: 'keys',
          title: 'No keys yet',
          text: 'With a key, a program can execute agents, read and cancel executions, or manage resources, for the whole workspace or for selected agents.',
          action: <CreateKey />,
        }}
      />
    </>
  );
}

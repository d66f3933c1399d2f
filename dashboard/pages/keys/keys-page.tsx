import { useQuery } from '@tanstack/react-query';
import { useFilters } from '../../components/hooks/use-filters.ts';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { keysQuery } from '../../data/workspace/keys.ts';
import { CreateKey } from './create-key.tsx';
import { KeyList } from './key-list.tsx';
import type { KeysSearch } from './route.ts';

const pageSize = 25;

export function KeysPage() {
  const [{ offset = 0 }] = useFilters<KeysSearch>();
  const keys = useQuery(keysQuery({ limit: pageSize, offset }));
  return (
    <>
      <PageHeader
        title="API keys"
        description="Programs authenticate with an API key. A key never has more rights than the user who created it."
        actions={<CreateKey />}
      />
      <KeyList
        query={keys}
        rows={(page) => page.keys}
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

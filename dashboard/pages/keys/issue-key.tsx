import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { Icon } from '../../parts/icon.tsx';

const IssueKeyForm = lazy(() => import('./issue-key-form.tsx'));

/** The way to a new key; on an agent's page it is for that agent unless said otherwise. */
export function IssueKey({ agentId }: { readonly agentId?: string }) {
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Icon name="plus" size={14} />} onClick={open}>
        Issue a key
      </Button>
      <Suspense>{opened && <IssueKeyForm agentId={agentId} onClose={close} />}</Suspense>
    </>
  );
}

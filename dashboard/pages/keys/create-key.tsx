import { Button } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';
import { lazyComponent } from '../../components/loading/lazy-component.tsx';
import { can, useMe } from '../../data/workspace/me.ts';
import { openDialog } from '../../kit/dialog.tsx';

const IssueKeyForm = lazyComponent(() => import('./issue-key-form.tsx'), true);

/** Opens the form of a new key, with its agent if it is for one. */
export function CreateKey({ agentId }: { readonly agentId?: string }) {
  if (!can(useMe(), 'edit')) return null;
  return (
    <Button
      leftSection={<Icon name="plus" size={14} />}
      onClick={() => openDialog(<IssueKeyForm agentId={agentId} />)}
    >
      Create key
    </Button>
  );
}

import { ActionIcon, Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Prompt } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useChangePrompt } from '../../data/prompts/prompts.ts';
import { can, useMe } from '../../data/workspace/me.ts';

type DialogName = 'rename' | 'visibility' | 'archive';

/** Actions on the whole prompt. */
export function PromptActions({ prompt }: { readonly prompt: Prompt }) {
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const change = useChangePrompt(prompt.promptId);
  const me = useMe();
  if (!can(me, 'edit')) return null;
  const openDialog = (name: DialogName) => {
    change.reset();
    setDialog(name);
  };
  const close = () => setDialog(null);
  const verb = prompt.archived ? 'restore' : 'archive';
  const { promptId, latestVersion } = prompt;
  const isPublic = prompt.visibility === 'public';
  return (
    <>
      {!prompt.archived && latestVersion && (
        <Button
          component={Link}
          to="/agents/new"
          // Typed by the target route, but a polymorphic Button loses the type.
          search={{ promptId, promptVersionId: latestVersion.promptVersionId } as never}
          variant="default"
        >
          Create agent
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="input-sm" aria-label="Prompt actions">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => openDialog('rename')}>Edit details</Menu.Item>
          <Menu.Item onClick={() => openDialog('visibility')}>
            {isPublic ? 'Make private' : 'Make public'}
          </Menu.Item>
          <Menu.Item onClick={() => openDialog('archive')}>
            {prompt.archived ? 'Restore' : 'Archive'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'rename' && (
        <RenameDialog
          named={prompt}
          pending={change.isPending}
          error={change.error}
          onSave={(about) => change.mutate(about, { onSuccess: close })}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={dialog === 'visibility'}
        title={isPublic ? 'Make this prompt private?' : 'Make this prompt public?'}
        confirmLabel={isPublic ? 'Make private' : 'Make public'}
        mutation={change}
        onClose={close}
        onConfirm={() =>
          change.mutate({ visibility: isPublic ? 'private' : 'public' }, { onSuccess: close })
        }
      >
        {isPublic
          ? 'Only its creator and owners will see it. All who see an agent still see the version that it pins.'
          : 'All members of the workspace will see it.'}
      </ConfirmDialog>
      <ConfirmDialog
        opened={dialog === 'archive'}
        title={prompt.archived ? 'Restore this prompt?' : 'Archive this prompt?'}
        confirmLabel={prompt.archived ? 'Restore' : 'Archive'}
        mutation={change}
        onClose={close}
        onConfirm={() => change.mutate(verb, { onSuccess: close })}
      >
        {prompt.archived
          ? 'Shows the prompt in the list again and allows new versions and agents.'
          : 'Hides the prompt from the list and blocks new versions and agents. Agents that pin its versions keep working. You can restore it at any time.'}
      </ConfirmDialog>
    </>
  );
}

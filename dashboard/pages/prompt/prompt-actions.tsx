import { ActionIcon, Button, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Prompt } from '../../../src/client/index.ts';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RenameDialog } from '../../components/dialogs/rename-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { useChangePrompt } from '../../data/prompts/prompts.ts';
import { may, useMe } from '../../data/workspace/me.ts';

/** What can be done with the prompt as a whole. */
export function PromptActions({ prompt }: { readonly prompt: Prompt }) {
  const [asked, setAsked] = useState<'rename' | 'archive' | null>(null);
  const change = useChangePrompt(prompt.promptId);
  const me = useMe();
  if (!may(me, 'edit')) return null;
  const ask = (what: 'rename' | 'archive') => {
    change.reset();
    setAsked(what);
  };
  const close = () => setAsked(null);
  const verb = prompt.archived ? 'restore' : 'archive';
  const { promptId, latestVersion } = prompt;
  return (
    <>
      {!prompt.archived && latestVersion && (
        <Button
          component={Link}
          to="/agents/new"
          // Its own route says what it takes; a button that is a link loses that.
          search={{ promptId, promptVersionId: latestVersion.promptVersionId } as never}
          variant="default"
        >
          Make an agent of it
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <ActionIcon variant="default" size="input-sm" aria-label="More for this prompt">
            <Icon name="more" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => ask('rename')}>Name and description</Menu.Item>
          <Menu.Item onClick={() => ask('archive')}>
            {prompt.archived ? 'Take it out of the archive' : 'Archive'}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'rename' && (
        <RenameDialog
          named={prompt}
          pending={change.isPending}
          error={change.error}
          onSave={(about) => change.mutate(about, { onSuccess: close })}
          onClose={close}
        />
      )}
      <ConfirmDialog
        opened={asked === 'archive'}
        title={prompt.archived ? 'Restore this prompt?' : 'Archive this prompt?'}
        verb={prompt.archived ? 'Restore' : 'Archive'}
        order={change}
        onClose={close}
        onConfirm={() => change.mutate(verb, { onSuccess: close })}
      >
        {prompt.archived
          ? 'It comes back to the list, and takes new versions and new agents again.'
          : 'It is hidden from the list, and takes no new versions and no new agents. Agents that pin one of its versions run on as before. It can be restored at any time.'}
      </ConfirmDialog>
    </>
  );
}

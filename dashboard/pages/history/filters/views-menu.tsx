import { Button, Group, Menu, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { View } from '../../../../src/client/index.ts';
import { useFilters } from '../../../components/hooks/use-filters.ts';
import { Icon } from '../../../components/icon.tsx';
import { FormError } from '../../../components/states/form-error.tsx';
import { useChangeViews, viewsQuery } from '../../../data/workspace/views.ts';
import { Dialog, DialogActions, DialogCloseButton } from '../../../kit/dialog.tsx';
import classes from '../history.module.css';
import { type HistorySearch, isFiltered, parseSearch, writeSearch } from '../search.ts';

/** The views that the user has saved. A view is the query of its URL, so that its link can be shared. */
export function ViewsMenu() {
  const [search] = useFilters<HistorySearch>();
  const navigate = useNavigate();
  const saved = useQuery(viewsQuery);
  const views = saved.data?.views ?? [];
  const [isSaving, saving] = useDisclosure();
  const [isManaging, managing] = useDisclosure();
  const query = writeSearch(search);
  const active = views.find((view) => writeSearch(parseSearch(view.search)) === query);
  const open = (view: View) => void navigate({ to: '/history', search: parseSearch(view.search) });
  return (
    <>
      <Menu width={260} position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs" rightSection={<Icon name="down" size={12} />}>
            {active ? (
              <span>
                View: <bdi>{active.name}</bdi>
              </span>
            ) : (
              'Views'
            )}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && (
            <Menu.Label>
              {saved.data
                ? 'No saved views yet'
                : saved.isError
                  ? 'Could not load the views'
                  : 'Loading…'}
            </Menu.Label>
          )}
          {saved.isError && !saved.data && (
            <Menu.Item closeMenuOnClick={false} onClick={() => void saved.refetch()}>
              Try again
            </Menu.Item>
          )}
          {views.map((view) => (
            <Menu.Item
              key={view.name}
              leftSection={<Icon name={view === active ? 'check' : 'search'} size={14} />}
              onClick={() => open(view)}
            >
              <bdi>{view.name}</bdi>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item
            disabled={!saved.data || !isFiltered(search) || active !== undefined}
            onClick={saving.open}
          >
            Save this view…
          </Menu.Item>
          {views.length > 0 && <Menu.Item onClick={managing.open}>Manage views…</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {isSaving && <SaveView query={query} views={views} onClose={saving.close} />}
      {isManaging && <ManageViews views={views} onClose={managing.close} />}
    </>
  );
}

/** A name that the user already has replaces that view. */
function SaveView(props: {
  readonly query: string;
  readonly views: readonly View[];
  readonly onClose: () => void;
}) {
  const { query, views, onClose } = props;
  const [name, setName] = useState('');
  const change = useChangeViews();
  const { error, isPending } = change;
  const own = { name: name.trim(), search: query };
  const existing = views.some((view) => view.name === own.name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate((all) => [...all.filter((view) => view.name !== own.name), own], {
      onSuccess: onClose,
    });
  };
  return (
    <Dialog title="Save this view" locked={isPending} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label="Name"
            description="Only you see it in the menu. Share it by its URL."
            data-autofocus
            maxLength={200}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <FormError error={error} />
          <DialogActions
            submit={existing ? 'Replace' : 'Save'}
            pending={isPending}
            disabled={name.trim() === ''}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function ManageViews(props: { readonly views: readonly View[]; readonly onClose: () => void }) {
  return (
    <Dialog title="Views" onClose={props.onClose}>
      <ul className={classes.views}>
        {props.views.map((view) => (
          <ViewRow key={view.name} view={view} />
        ))}
      </ul>
      <Group justify="flex-end" mt="md">
        <DialogCloseButton>Done</DialogCloseButton>
      </Group>
    </Dialog>
  );
}

function ViewRow({ view }: { readonly view: View }) {
  const [name, setName] = useState(view.name);
  const rename = useChangeViews();
  const remove = useChangeViews();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate((views) =>
      views.map((one) => (one.name === view.name ? { ...one, name: name.trim() } : one)),
    );
  };
  return (
    <li>
      <form onSubmit={submit} className={classes.viewRow}>
        <TextInput
          size="xs"
          aria-label={`Name of ${view.name}`}
          maxLength={200}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button
          type="submit"
          size="xs"
          variant="default"
          disabled={name.trim() === '' || name === view.name}
          loading={rename.isPending}
        >
          Rename
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Delete ${view.name}`}
          loading={remove.isPending}
          onClick={() => remove.mutate((views) => views.filter((one) => one.name !== view.name))}
        >
          Delete
        </Button>
      </form>
      <FormError error={rename.error ?? remove.error} />
    </li>
  );
}

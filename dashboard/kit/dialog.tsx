import { Button, Group, Modal } from '@mantine/core';
import { useLocation } from '@tanstack/react-router';
import {
  createContext,
  type ReactNode,
  Suspense,
  useContext,
  useEffect,
  useSyncExternalStore,
} from 'react';
import { currentOpener, useReturnFocus } from '../components/hooks/use-return-focus.ts';

/**
 * The width of a dialog, by its contents: `small` asks a question or up to five fields below each other, `medium` has
 * fields beside each other, texts or a secret, and `large` a table, a comparison or code beside text.
 */
const widths = { small: '27.5rem', medium: '38.75rem', large: '60rem' } as const;
export type DialogWidth = keyof typeof widths;

/** A dialog that is open while mounted. Returns focus to its opener when it unmounts. */
export function Dialog(props: {
  readonly title: string;
  readonly width?: DialogWidth;
  /**
   * Disables Esc, click outside and the close button: while a call is in flight, and while a value is shown that cannot
   * be shown again.
   */
  readonly locked?: boolean;
  /** Default: closes what `openDialog` has opened. */
  readonly onClose?: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const { title, width = 'small', locked = false, children } = props;
  const { close, opener } = useContext(PlaceContext);
  const onClose = props.onClose ?? close;
  useReturnFocus(opener);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={widths[width]}
      closeOnEscape={!locked}
      closeOnClickOutside={!locked}
      withCloseButton={!locked}
      // `useReturnFocus` does it: Mantine returns focus only if the dialog opens after it has mounted.
      returnFocus={false}
      // A header in each of several stacked dialogs would count as several page banners.
      attributes={{ header: { role: 'presentation' } }}
    >
      <PlaceContext value={{ locked, close: onClose, opener: null }}>{children}</PlaceContext>
    </Modal>
  );
}

interface Place {
  readonly locked: boolean;
  readonly close: () => void;
  /** What had the focus when `openDialog` was called: what it opens may show one dialog after another. */
  readonly opener: HTMLElement | null;
}

const PlaceContext = createContext<Place>({ locked: false, close: () => {}, opener: null });

/** Closes the dialog around a component. */
export function useCloseDialog(): () => void {
  return useContext(PlaceContext).close;
}

/**
 * The button that closes the dialog without a change. Disabled while locked, since the call in flight cannot be undone.
 */
export function DialogCloseButton(props: {
  readonly children: ReactNode;
  readonly autoFocus?: boolean;
}) {
  const { locked, close } = useContext(PlaceContext);
  return (
    <Button
      variant="default"
      disabled={locked}
      data-autofocus={props.autoFocus || undefined}
      onClick={close}
    >
      {props.children}
    </Button>
  );
}

/** The end of a dialog's form: a button that cancels, and the one that submits. */
export function DialogActions(props: {
  readonly submit: string;
  /** The label of the button that cancels. */
  readonly cancel?: string;
  readonly pending?: boolean;
  readonly disabled?: boolean;
}) {
  const { submit, cancel = 'Cancel', pending = false, disabled = false } = props;
  return (
    <Group justify="flex-end" gap="xs">
      <DialogCloseButton>{cancel}</DialogCloseButton>
      <Button type="submit" loading={pending} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  );
}

interface Opened {
  readonly dialog: ReactNode;
  readonly opener: HTMLElement | null;
}

/** The last one is on top. */
let opened: readonly Opened[] = [];
const listeners = new Set<() => void>();

function show(next: readonly Opened[]): void {
  opened = next;
  for (const listener of listeners) listener();
}

/**
 * Opens a dialog outside the page: what opened it may be refetched or removed meanwhile, for example the row of a rotated
 * key, whose new secret must stay. A dialog may open another one above it.
 */
export function openDialog(dialog: ReactNode): void {
  show([...opened, { dialog, opener: currentOpener() }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Where what `openDialog` opens is rendered, beside the page. Another page closes it. */
export function DialogHost() {
  const all = useSyncExternalStore(subscribe, () => opened);
  const { pathname } = useLocation();
  useEffect(() => () => show([]), [pathname]);
  return all.map(({ dialog, opener }, index) => (
    <PlaceContext
      // A dialog keeps its place while it is open.
      key={index.toString()}
      value={{ locked: false, close: () => show(opened.slice(0, index)), opener }}
    >
      <Suspense>{dialog}</Suspense>
    </PlaceContext>
  ));
}

import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core';
import { serverPath } from '../data/client/base-path.ts';

/** The Mantine theme. Colours come from `tokens.css`, for light and dark. */

const accent: MantineColorsTuple = [
  '#e9f6f3',
  '#d0ebe5',
  '#a6d8ce',
  '#79c4b6',
  '#57b5a5',
  '#2f9887',
  '#1a8171',
  '#0f6f61',
  '#0b6157',
  '#084a43',
];

const dark: MantineColorsTuple = [
  '#e4e5e6',
  '#c3c7cc',
  '#a3a9b1',
  '#8a919a',
  '#363b41',
  '#2c3035',
  '#1b1e21',
  '#131517',
  '#0f1113',
  '#0b0c0e',
];

/** On the input itself: Mantine puts `dir` on the element around it, which contains no text. */
const ownDirection = { attributes: { input: { dir: 'auto' } } };

/** Heavier than the contents of the dialog. */
const dialogTitle = { fontSize: '1rem', fontWeight: 650, lineHeight: 1.35 };

export const theme = createTheme({
  colors: { accent, dark },
  primaryColor: 'accent',
  // White text has enough contrast on both.
  primaryShade: { light: 8, dark: 6 },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  radius: { xs: '3px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
  headings: { fontFamily: 'var(--sans)', fontWeight: '600' },
  components: {
    Button: { defaultProps: { size: 'sm' } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.4 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
      styles: { title: dialogTitle },
    },
    Drawer: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: dialogTitle },
    },
    // Texts of users in any script: each field follows the direction of its first letter.
    TextInput: { defaultProps: ownDirection },
    Textarea: { defaultProps: ownDirection },
    Autocomplete: { defaultProps: ownDirection },
    Select: { defaultProps: ownDirection },
    MultiSelect: { defaultProps: { dir: 'auto' } },
    TagsInput: { defaultProps: { dir: 'auto' } },
    NativeSelect: { defaultProps: ownDirection },
    // Elsewhere, a list of options or a tooltip would be outside of all landmarks.
    Combobox: { defaultProps: { portalProps: { target: '#page' } } },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-end' } },
    Tooltip: {
      defaultProps: { openDelay: 300, withArrow: false, portalProps: { target: '#page' } },
    },
  },
});

/** Maps Mantine's variables to our tokens, which already resolve to light or dark. */
export const cssVariables: CSSVariablesResolver = () => {
  const shared = {
    '--mantine-color-body': 'var(--ground)',
    '--mantine-color-text': 'var(--text)',
    '--mantine-color-dimmed': 'var(--soft)',
    '--mantine-color-placeholder': 'var(--soft)',
    '--mantine-color-anchor': 'var(--accent)',
    '--mantine-color-default': 'var(--card)',
    '--mantine-color-default-color': 'var(--text)',
    '--mantine-color-default-hover': 'var(--raised)',
    '--mantine-color-default-border': 'var(--line-strong)',
    // Mantine's own have too little contrast.
    '--mantine-color-disabled-color': 'var(--soft)',
    '--mantine-color-disabled-border': 'var(--line-strong)',
    '--mantine-color-error': 'var(--bad)',
  };
  return { variables: {}, light: shared, dark: shared };
};

const remembered = localStorageColorSchemeManager({ key: 'cueline-color-scheme' });

/**
 * Stores the colour scheme in local storage, and in a cookie from which the server renders the attribute on `<html>`:
 * the first paint has the right colours without an inline script.
 */
export const colorScheme: MantineColorSchemeManager = {
  ...remembered,
  set(scheme) {
    remembered.set(scheme);
    const days = scheme === 'auto' ? 0 : 365;
    // biome-ignore lint/suspicious/noDocumentCookie: not all supported browsers have the Cookie Store API, and the value needs no encoding.
    document.cookie = `cueline-color-scheme=${scheme}; path=${serverPath('/')}; max-age=${days * 86_400}; samesite=lax`;
  },
};

/** The nonce that the content security policy requires for styles created at run time. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}

// Some dependencies read the nonce from this global.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

import type { HttpSettings } from '../http-options.js';
import { html } from './html.js';
import { script } from './script.js';
import { style } from './style.js';
import { tables } from './tables.js';

/** The files of the page, by their paths: no framework, no build step, nothing from elsewhere. */
export function pageFiles(settings: HttpSettings): Readonly<Record<string, readonly [type: string, text: string]>> {
  return {
    '/': ['text/html; charset=utf-8', html(settings.basePath, settings.authorize !== undefined)],
    '/page.css': ['text/css; charset=utf-8', style],
    '/page.js': ['text/javascript; charset=utf-8', script],
    '/tables.js': ['text/javascript; charset=utf-8', tables],
  };
}

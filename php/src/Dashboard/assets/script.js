// Replaces the parts of the page that live, every two seconds, while the page is seen. Without this script all pages work, and stay as they are.
'use strict';

const EVERY_MS = 2000;
const connection = document.getElementById('connection');
let tag = null;
let timer = null;

async function refresh() {
  const answer = await fetch(location.href, { headers: tag ? { 'If-None-Match': tag } : {}, cache: 'no-store', redirect: 'error' });
  connection.textContent = answer.ok || answer.status === 304 ? '' : `The page cannot be refreshed: ${answer.status}`;
  if (!answer.ok) {
    return;
  }
  tag = answer.headers.get('ETag');
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const successor = page.getElementById(part.id);
    // A part in which somebody writes, chooses or marks text stays until that is over.
    const isInUse = part.contains(document.activeElement) || (getSelection().type === 'Range' && part.contains(getSelection().anchorNode));
    if (successor && !isInUse && part.innerHTML !== successor.innerHTML) {
      part.replaceWith(document.adoptNode(successor));
    }
  }
}

async function turn() {
  try {
    await refresh();
  } catch {
    connection.textContent = 'The connection is lost. It is tried again.';
  }
  plan();
}

function plan() {
  clearTimeout(timer);
  timer = document.hidden ? null : setTimeout(turn, EVERY_MS);
}

document.addEventListener('visibilitychange', plan);
if (document.querySelector('[data-live]')) {
  plan();
}
// A change of many jobs goes on by itself, until it is done, fails, or somebody follows another link. Only the answer to a change has such a form.
async function step() {
  const form = document.querySelector('progress + form');
  if (!form) {
    return;
  }
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    if (answer.redirected) {
      location.href = answer.url;
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const [successor, stop] = [page.getElementById('step'), page.getElementById('stop')];
    if (successor && stop) {
      document.getElementById('step').replaceWith(document.adoptNode(successor));
      document.getElementById('stop').href = stop.getAttribute('href'); // the link itself stays, under the pointer
      step();
    } else {
      connection.textContent = `The change cannot go on: ${answer.status}`;
    }
  } catch {
    connection.textContent = 'The connection is lost. "Go on" tries again.';
  }
}
step();

// A look through all queues goes on as well, and collects the rows of its pages.
async function look() {
  const next = document.querySelector('#look [rel=next]');
  if (!next) {
    return;
  }
  try {
    const answer = document.hidden ? null : await fetch(next.href, { cache: 'no-store', redirect: 'error' });
    if (answer?.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const [found, here] = [page.querySelector('#queues tbody'), document.querySelector('#queues tbody')];
      if (found && here) {
        here.append(...found.rows);
      } else if (found) {
        document.getElementById('queues').replaceWith(document.adoptNode(page.getElementById('queues')));
      }
      document.getElementById('look').replaceWith(document.adoptNode(page.getElementById('look')));
    }
    connection.textContent = answer === null || answer.ok ? '' : `The queues cannot be read: ${answer.status}`;
  } catch {
    connection.textContent = 'The connection is lost. It is tried again.';
  }
  setTimeout(look, EVERY_MS / 4);
}
look();

// Pages opened from a folder may start no workers: search then runs in a hidden frame that acts as one.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      this.post = inside.postMessage.bind(inside); // inside, the name means the way back
      window.addEventListener("message", (event) => {
        if (event.source !== inside) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      this.loaded = new Promise((resolve) => frame.addEventListener("load", resolve));
      const page = frame.contentDocument;
      page.open();
      page.write(
        `<html><body><script>
          postMessage = parent.postMessage.bind(parent);
          importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
            new Promise((resolve) => {
              const script = document.createElement("script");
              script.src = url;
              script.onload = resolve;
              document.body.appendChild(script);
            })), Promise.resolve());
        <\/script><script src="${url}"><\/script></body></html>`,
      );
      page.close();
    }

    postMessage(data) {
      this.loaded.then(() => this.post(data, "*"));
    }

    terminate() {}
  };
}

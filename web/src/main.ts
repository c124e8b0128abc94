import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './composables/useTheme'
import { VueQueryPlugin } from '@tanstack/vue-query'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { queryClient } from './api/queries'
import { makeRouter } from './router'
import { useSession } from './session/store'
import { i18n } from './texts'
import { offer, speakSoon } from './texts/languages'

offer({ de: () => import('./texts/de/hq') })

const app = createApp(App)
app.use(i18n)
app.use(createPinia())
app.use(VueQueryPlugin, { queryClient })

// The frame stands as soon as its language is there, over a slow line in English until then. The first page is chosen when
// it is known who is signed in, since the guard asks that.
const known = useSession().restore()
void speakSoon().then(() => app.use(makeRouter(known)).mount('#app'))
